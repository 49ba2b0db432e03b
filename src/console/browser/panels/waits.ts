import { el } from '../dom.ts';
import { plural, shortId } from '../format.ts';
import { age, named, type Row, scopeLink, type TableText, table } from '../parts.ts';
import type { Waits } from '../records.ts';
import type { World } from '../world.ts';
import { panel } from './panel.ts';

const reasons: Readonly<Record<string, string>> = {
  HEAD_OF_LINE: 'others are before it',
  WINDOW: 'the window is used up',
  COOLDOWN: 'the allowance is in cooldown',
  DELAY: 'delayed',
  RETRY: 'paused after a failed attempt',
  RECEIVER: 'nobody has received it',
};

const waitingText: TableText = {
  caption: 'Waiting, longest first',
  heads: ['Who', 'For', 'Since', 'Because', 'Run'],
  empty: 'Nobody is waiting.',
  isCaptionVisible: true,
};

const holdingText: TableText = {
  caption: 'Holding, longest first',
  heads: ['Who', 'What', 'Since', 'Until', 'Run'],
  empty: 'Nobody is holding anything.',
  isCaptionVisible: true,
};

interface Dated extends Row {
  /** Rows without a time come last. */
  readonly since: string | undefined;
}

function byAge(rows: readonly Dated[]): Row[] {
  const at = ({ since }: Dated): number => (since === undefined ? Number.MAX_VALUE : Date.parse(since));
  return [...rows].sort((a, b) => at(a) - at(b));
}

function units(value: number, allowanceId: string, world: World): Element {
  return named(`${plural(value, 'unit')} of allowance ${world.named(allowanceId).name}`);
}

type Waiter = Waits['waiters'][number];
type Task = Waits['waitingTasks'][number];

/** Why a waiter has no units yet; the head of the line has them no sooner than the moment that is shown. */
function whyNoUnits({ position, blockedBy, blockedUntil }: Waiter, world: World): Element {
  const reason = `position ${position}: ${reasons[blockedBy] ?? blockedBy}`;
  return el('span', {}, reason, ...(blockedUntil === null ? [] : [', until ', age(blockedUntil, world)]));
}

/** Why no worker has a task. */
function whyNobody({ blockedBy, position, readyAt, groupId }: Task, world: World): Element {
  const reason =
    position !== null && position > 1 ? `others of its run are before it: position ${position}` : reasons[blockedBy];
  const until = readyAt === null ? [] : [', ready ', age(readyAt, world)];
  const group = groupId === null ? '' : ` (group ${shortId(groupId)})`;
  return el('span', {}, reason ?? blockedBy, ...until, group);
}

function waiting({ waiters, waitingTasks }: Waits, world: World): Row[] {
  const ofAllowances = waiters.map((waiter) => ({
    key: waiter.waiterId,
    since: waiter.waitingSince,
    cells: [
      named(waiter.holder),
      units(waiter.units, waiter.allowanceId, world),
      age(waiter.waitingSince, world),
      whyNoUnits(waiter, world),
      scopeLink(waiter.scopeId, world),
    ],
  }));
  const ofWorkers = waitingTasks.map((task) => ({
    key: task.taskId,
    since: task.waitingSince,
    cells: [
      `task ${shortId(task.taskId)}`,
      named(`a worker at mailbox ${world.named(task.mailboxId).name}`),
      age(task.waitingSince, world),
      whyNobody(task, world),
      scopeLink(task.scopeId, world),
    ],
  }));
  return byAge([...ofAllowances, ...ofWorkers]);
}

function holding({ heldClaims, heldGrants }: Waits, world: World): Row[] {
  const claims = heldClaims.map((claim) => ({
    key: claim.messageId,
    since: claim.claimedAt,
    cells: [
      named(claim.holder),
      named(`a message of mailbox ${world.named(claim.mailboxId).name}, attempt ${claim.attempt}`),
      age(claim.claimedAt, world),
      el('span', {}, 'lease ends ', age(claim.leaseExpiresAt, world)),
      scopeLink(claim.scopeId, world),
    ],
  }));
  const grants = heldGrants.map((grant) => ({
    key: grant.waiterId,
    since: undefined,
    cells: [
      named(grant.holder),
      units(grant.units, grant.allowanceId, world),
      '–',
      el('span', {}, 'window ends ', age(grant.windowEndsAt, world)),
      scopeLink(grant.scopeId, world),
    ],
  }));
  return byAge([...claims, ...grants]);
}

export const waits = panel<Waits>({
  id: 'waits',
  path: '/ops/waits',
  hears: ['message', 'waiter', 'allowance', 'task'],
  everySeconds: 4,
  idleSeconds: 20,
  learn: (answer, world) => {
    world.waits = answer;
    for (const { scopeId } of [...answer.waiters, ...answer.heldGrants, ...answer.heldClaims, ...answer.waitingTasks])
      world.scopes.learn(scopeId, answer.asOf);
  },
  render: (answer, world) => [
    table(waitingText, waiting(answer, world)),
    table(holdingText, holding(answer, world)),
    ...(answer.truncated ? [el('p', { class: 'note' }, 'Only 200 of each kind are shown; there are more.')] : []),
  ],
});
