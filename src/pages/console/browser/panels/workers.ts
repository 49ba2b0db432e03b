import { el } from '../dom.ts';
import { count, plural } from '../format.ts';
import {
  age,
  button,
  mailboxLink,
  messageLink,
  named,
  onlySome,
  type Row,
  receiversOf,
  scopeLink,
  type TableText,
  table,
} from '../parts.ts';
import { address } from '../place.ts';
import type { Mailboxes, Waits } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { backlogOf } from '../staff.ts';
import { panel } from './panel.ts';
import { heldUnits, unitsOf } from './pools.ts';
import { allowanceLink } from './resources.ts';

const workerText: TableText = {
  caption: 'Workers, those that have held something longest first',
  heads: ['Worker', 'Session', 'Holds', 'Since', 'Next lease end'],
  empty: 'Nobody holds anything.',
};

const mailboxText: TableText = {
  caption: 'Mailboxes with work, those that nobody works on first',
  heads: ['Mailbox', 'Workers', 'Claimed', 'Waiting', 'Oldest ready'],
  empty: 'No mailbox has work.',
};

/** Something that a worker holds. */
interface HeldClaim {
  readonly key: string;
  /** null: the API does not say. */
  readonly since: string | null;
  readonly until: string | null;
  readonly what: Element;
}

interface WorkerHolds {
  readonly holder: string;
  readonly session: string | null;
  readonly held: readonly HeldClaim[];
}

/** More would bury the other workers. */
const shownHeld = 5;

function claimOf(claim: Waits['heldClaims'][number], world: SpaceState): HeldClaim {
  const { messageId, mailboxId, attempt, claimedAt, leaseExpiresAt, scopeId } = claim;
  const release = world.can.config
    ? [button('release', 'Take the claim away…', { id: messageId, label: messageId }), ' ']
    : [];
  const of = [' of ', mailboxLink(mailboxId, world), `, attempt ${attempt}, run `, scopeLink(scopeId, world)];
  return {
    key: messageId,
    since: claimedAt,
    until: leaseExpiresAt,
    what: el('span', {}, ...release, 'message ', messageLink(messageId, world), ...of),
  };
}

/** What is held, by holder and session. */
function workersOf(waits: Waits, world: SpaceState): WorkerHolds[] {
  const workers = new Map<string, WorkerHolds & { readonly held: HeldClaim[] }>();
  const take = (holder: string, session: string | null, held: HeldClaim): void => {
    const key = `${holder}\t${session ?? ''}`;
    const worker = workers.get(key) ?? { holder, session, held: [] };
    worker.held.push(held);
    workers.set(key, worker);
  };
  for (const claim of waits.heldClaims) take(claim.holder, claim.holderSession, claimOf(claim, world));
  for (const { holdId, messageId, poolId, units, ...one } of heldUnits(waits))
    take(one.holder, one.holderSession, {
      key: `${holdId ?? messageId} ${poolId}`,
      since: one.heldAt,
      until: one.leaseExpiresAt,
      what: el('span', {}, unitsOf(units, poolId, world), `, fence ${one.fence}`),
    });
  for (const { waiterId, holder, units, allowanceId, windowEndsAt } of waits.heldGrants)
    take(holder, null, {
      key: waiterId,
      since: null,
      until: windowEndsAt,
      what: el('span', {}, `${plural(units, 'unit')} of allowance `, allowanceLink(allowanceId, world)),
    });
  return [...workers.values()];
}

const earliest = (moments: readonly (string | null)[]): string | undefined =>
  moments.filter((one) => one !== null).sort()[0];

function workerRow({ holder, session, held }: WorkerHolds): Row & { readonly since: string } {
  const items = held.map(({ key, what }) => el('li', { 'data-key': key }, what));
  const rest = items.slice(shownHeld);
  const since = earliest(held.map((one) => one.since));
  const until = earliest(held.map((one) => one.until));
  const folded = el(
    'details',
    {},
    el('summary', {}, `${count(rest.length)} more`),
    el('ul', { class: 'plain' }, ...rest),
  );
  return {
    key: `${holder} ${session}`,
    since: since ?? '9',
    cells: [
      named(holder),
      named(session ?? '–'),
      el('div', {}, el('ul', { class: 'plain' }, ...items.slice(0, shownHeld)), rest.length === 0 ? null : folded),
      since === undefined ? '–' : age(since),
      until === undefined ? '–' : age(until),
    ],
  };
}

/** What each worker holds. */
export const workers = panel<Waits>({
  id: 'workers',
  path: '/ops/waits',
  hears: ['message', 'hold', 'pool', 'waiter', 'allowance'],
  everySeconds: 4,
  idleSeconds: 20,
  learn: (answer, world) => {
    world.waits = answer;
    // The mailboxes are shown with their workers.
    world.namesVersion++;
  },
  render: (answer, world) => [
    table(
      workerText,
      workersOf(answer, world)
        .map((one) => workerRow(one))
        .sort((one, other) => (one.since < other.since ? -1 : 1)),
      20,
    ),
    ...(answer.truncated ? [el('p', { class: 'note' }, onlySome)] : []),
  ],
});

/** Which mailboxes with work have workers: some that hold messages of it, or that wait for one. */
export const staffing = panel<Mailboxes>({
  id: 'staffing',
  path: '/mailboxes?limit=200',
  hears: ['mailbox', 'message'],
  everySeconds: 4,
  learn: ({ mailboxes }, world) => world.learnMailboxes(mailboxes),
  render: ({ mailboxes, nextCursor }, world) => [
    table(
      mailboxText,
      mailboxes
        .filter((one) => backlogOf(one) > 0)
        .sort((one, other) => one.counts.claimed - other.counts.claimed)
        .map((one) => ({
          key: one.id,
          cells: [
            mailboxLink(one.id, world, one.name),
            receiversOf(one, world),
            count(one.counts.claimed),
            count(backlogOf(one) - one.counts.claimed),
            one.oldestReadyAt === null ? '–' : age(one.oldestReadyAt),
          ],
        })),
      10,
    ),
    ...(nextCursor === null
      ? []
      : [
          el('p', { class: 'note' }, 'Only the newest 200 mailboxes are considered. '),
          el('a', { href: address(world.spaceId, 'mailboxes') }, 'All mailboxes'),
        ]),
  ],
});
