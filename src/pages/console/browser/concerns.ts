import type { Rate } from './api.ts';
import { type Child, el } from './dom.ts';
import { count, plural, words } from './format.ts';
import { age, button, failureOf, mailboxLink, named } from './parts.ts';
import { address } from './place.ts';
import type { Backlog, Census, Limits, Mailbox } from './records.ts';
import type { SpaceState } from './space-state.ts';
import { backlogOf, byOldest, fullnessOf, isDeserted } from './staff.ts';

/** From this share on, something is about to be full. */
export const nearly = 0.8;
/** A message that has been ready for longer is too old, as in the alert. */
const oldMs = 3_600_000;
/** How many objects one line names. */
const maxNamed = 3;

/** The final states of work that ended without success, except CANCELLED, which somebody wanted. */
export const failedStates = ['FAILED', 'REJECTED', 'EXPIRED'] as const;

/** Something that a person should look at. */
export interface Concern {
  readonly key: string;
  /** The page, as in the navigation, that shows it; '' for the overview. */
  readonly page: string;
  /** The things that this is about: their ids, or how many there are. */
  readonly of: readonly string[] | number;
  readonly title: string;
  readonly what: Child;
}

function list(
  mailboxes: readonly Mailbox[],
  world: SpaceState,
  what: (one: Mailbox) => Child[],
  order: string,
): Element {
  const shown = mailboxes
    .slice(0, maxNamed)
    .flatMap((one, index) => [index === 0 ? '' : ', ', mailboxLink(one.id, world, one.name), ' ', ...what(one)]);
  const rest = mailboxes.length - maxNamed;
  const more = el('a', { href: address(world.spaceId, 'mailboxes', { by: order }) }, `${count(rest)} more`);
  return el('span', {}, ...shown, ...(rest > 0 ? [', and ', more] : []));
}

function ofMailboxes(world: SpaceState): Concern[] {
  const all = world.mailboxes;
  const deserted = all.filter((one) => isDeserted(one, world)).sort(byOldest);
  const full = all.filter((one) => fullnessOf(one) >= nearly).sort((a, b) => fullnessOf(b) - fullnessOf(a));
  const old = all
    .filter((one) => one.oldestReadyAt !== null && world.now() - Date.parse(one.oldestReadyAt) > oldMs)
    .filter((one) => !deserted.includes(one))
    .sort(byOldest);
  const oldest = ({ oldestReadyAt }: Mailbox): Child[] => (oldestReadyAt === null ? [] : [age(oldestReadyAt)]);
  const waiting = (one: Mailbox): Child[] => [`${count(one.counts.ready)} ready for `, ...oldest(one)];
  const concern = (
    key: string,
    title: string,
    some: readonly Mailbox[],
    order: string,
    what: (one: Mailbox) => Child[],
  ) =>
    some.length === 0
      ? []
      : [{ key, page: 'mailboxes', of: some.map(({ id }) => id), title, what: list(some, world, what, order) }];
  return [
    ...concern('deserted', 'Nobody receives', deserted, 'oldest', waiting),
    ...concern('full', 'Nearly full', full, 'full', (one) => [
      `${count(backlogOf(one))} of ${count(one.backlogLimit)}`,
    ]),
    ...concern('old', 'Waits for over an hour', old, 'oldest', oldest),
  ];
}

/** The number of messages that ended without success, with a link to a list that is not empty. */
export function failedOf({ messages }: Census, world: SpaceState) {
  const some = failedStates.filter((state) => messages[state] > 0);
  const [state] = some;
  return {
    number: some.reduce((all, one) => all + messages[one], 0),
    note: some.map((one) => `${count(messages[one])} ${words(one)}`).join(', '),
    href: address(world.spaceId, 'failed', { state: state === 'FAILED' ? undefined : state }),
  };
}

function ofFailures(census: Census, world: SpaceState): Concern[] {
  const failed = failedOf(census, world);
  const { failing, disabled, usedUp } = world;
  const link = (page: string, text: string): Element => el('a', { href: address(world.spaceId, page) }, text);
  const concerns: (Concern | false)[] = [
    failed.number > 0 && {
      ...{ key: 'failed', page: 'failed', of: failed.number, title: 'Failed work' },
      what: el('a', { href: failed.href }, failed.note),
    },
    failing.length > 0 && {
      ...{ key: 'failing', page: 'webhooks', of: failing.length, title: 'Webhooks fail' },
      what: el(
        'span',
        {},
        link('webhooks', plural(failing.length, 'destination')),
        ...failing.slice(0, 1).flatMap((one) => [', ', failureOf(one)]),
      ),
    },
    disabled > 0 && {
      ...{ key: 'disabled', page: 'webhooks', of: disabled, title: 'Webhooks are off' },
      what: link('webhooks', `${plural(disabled, 'destination')} disabled`),
    },
    usedUp.length > 0 && {
      ...{ key: 'usedUp', page: 'money', of: usedUp.length, title: 'Budgets used up' },
      what: el(
        'span',
        {},
        link(
          'money',
          usedUp
            .slice(0, maxNamed)
            .map(({ name }) => name)
            .join(', '),
        ),
        moreOf(usedUp),
      ),
    },
  ];
  return concerns.filter((one) => one !== false);
}

const moreOf = (all: readonly unknown[]): string =>
  all.length > maxNamed ? ` and ${count(all.length - maxNamed)} more` : '';

/** A limit of the space or of its organization, and how much of it is in use. */
export interface Use {
  /** As in PUT /limits; undefined for the organization's rate, which only the command line changes. */
  readonly name: string | undefined;
  readonly title: string;
  readonly used: number;
  readonly limit: number;
}

const rateTitles: Readonly<Record<string, string>> = {
  space: 'Requests of this minute',
  org: "Requests of the organization's minute",
};

export const rateUses = (rates: readonly Rate[]): Use[] =>
  rates.map(({ of, quota, left }) => ({
    name: of === 'space' ? 'requestsPerMinute' : undefined,
    title: rateTitles[of] ?? of,
    used: quota - left,
    limit: quota,
  }));

function limitUses(backlog: Backlog, limits: Limits): Use[] {
  const { readyMessages, delayedMessages, blockedMessages, claimedMessages } = backlog;
  return [
    {
      ...{ name: 'maxBacklog', title: 'Messages of the space', limit: limits.maxBacklog },
      used: readyMessages + delayedMessages + blockedMessages + claimedMessages,
    },
    {
      ...{ name: 'maxPendingWaiters', title: 'Waiters and waiting holds', limit: limits.maxPendingWaiters },
      used: backlog.waitingWaiters + backlog.waitingHolds,
    },
    { name: 'maxArmedTimers', title: 'Armed timers', used: backlog.armedTimers, limit: limits.maxArmedTimers },
  ];
}

/** How a limit is raised: by a button for those who may, else by this line. */
export function raising({ name, limit }: Use, world: SpaceState): Element {
  if (name !== undefined && world.can.config) return button('raise', 'Raise the limit…', { id: name, label: name });
  const org = world.org ?? '<org>';
  const flag = (name ?? '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const line =
    name === undefined
      ? `muster org set-plan ${org} --plan enterprise --rpm ${2 * limit}`
      : `muster space limits ${world.spaceId} --org ${org} --${flag} ${2 * limit}`;
  return el('code', {}, line);
}

function ofLimits(backlog: Backlog, world: SpaceState): Concern[] {
  const uses = [...rateUses(world.rates), ...(world.limits ? limitUses(backlog, world.limits) : [])];
  return uses
    .filter(({ used, limit }) => used >= nearly * limit)
    .sort((a, b) => b.used / b.limit - a.used / a.limit)
    .map((use) => ({
      ...{ key: use.title, page: '', of: 1 },
      title: use.used >= use.limit ? 'At its limit' : 'Near its limit',
      what: el('span', {}, named(`${use.title}: ${count(use.used)} of ${count(use.limit)} `), ' ', raising(use, world)),
    }));
}

/** Everything that a person should look at, in the order in which they should. */
export const concernsOf = (backlog: Backlog, census: Census, world: SpaceState): Concern[] => [
  ...ofMailboxes(world),
  ...ofFailures(census, world),
  ...ofLimits(backlog, world),
];

/** How many things on each page need somebody, by the page's name in the address. Open questions need somebody, too. */
export function countsOf(world: SpaceState): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  if (!world.figures) return counts;
  const { backlog, census } = world.figures;
  const ids = new Set<string>();
  const add = (page: string, number: number): void => void counts.set(page, (counts.get(page) ?? 0) + number);
  for (const { page, of } of concernsOf(backlog, census, world)) {
    if (typeof of === 'number') add(page, of);
    else {
      add(page, of.filter((id) => !ids.has(id)).length);
      for (const id of of) ids.add(id);
    }
  }
  add('questions', backlog.openQuestions);
  return counts;
}
