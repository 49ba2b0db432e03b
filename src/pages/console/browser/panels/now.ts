import { type Child, el } from '../dom.ts';
import { count, plural, words } from '../format.ts';
import { failedStates } from '../pages/failed.ts';
import { age, failureOf } from '../parts.ts';
import { address } from '../place.ts';
import type { Backlog, Census, Counts } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { panel } from './panel.ts';

function tile(name: Child, value: number, note: Child): Element {
  const small = note === null ? null : el('span', { class: 'note' }, note);
  return el('div', {}, el('dt', {}, name), el('dd', {}, el('span', { class: 'figure' }, count(value)), small));
}

function oldest(seconds: number | null, { asOf }: Backlog, world: SpaceState): Child {
  if (seconds === null) return null;
  const since = new Date(Date.parse(asOf) - seconds * 1000).toISOString();
  return el('span', {}, 'oldest ', age(since, world));
}

function stateCounts(counts: Counts): Child[] {
  const some = Object.entries(counts).filter(([, value]) => value > 0);
  if (some.length === 0) return [el('span', { class: 'empty' }, 'none')];
  return some.map(([state, value]) => el('span', { class: 'tally' }, el('b', {}, count(value)), ` ${words(state)}`));
}

/** The number of messages that ended without success, with a link to them. */
function failedTile({ messages }: Census, world: SpaceState): Element {
  const some = failedStates.filter((state) => messages[state] > 0);
  const sum = some.reduce((all, state) => all + messages[state], 0);
  const note = some.map((state) => `${count(messages[state])} ${words(state)}`).join(', ');
  // Link to a list that is not empty.
  const [state] = some;
  const href = address(world.spaceId, 'failed', { state: state === 'FAILED' ? undefined : state });
  const shown = tile(el('a', { href }, 'Failed work'), sum, note === '' ? null : note);
  if (sum > 0) shown.classList.add('bad');
  return shown;
}

/** The budgets with nothing left, if there are any among the newest. */
function usedUpTile(world: SpaceState): Element | null {
  const [first, ...rest] = world.usedUp;
  if (!first) return null;
  const href = address(world.spaceId, 'money');
  const note = rest.length === 0 ? first.name : `${first.name} and ${count(rest.length)} more`;
  const shown = tile(el('a', { href }, 'Budgets used up'), world.usedUp.length, el('span', { class: 'named' }, note));
  shown.classList.add('bad');
  return shown;
}

/** The pending webhook deliveries, and whether a destination is failing or disabled. */
function webhookTile({ outbox }: Backlog, world: SpaceState): Element {
  const { UNREAD, PENDING, DELIVERED, EXHAUSTED } = outbox;
  const { disabled, failing } = world;
  const problems = [
    ...failing.slice(0, 1).flatMap((one) => [failureOf(one, world), '; ']),
    ...(failing.length > 1 ? [`${plural(failing.length, 'destination')} failing; `] : []),
    ...(disabled > 0 ? [`${plural(disabled, 'destination')} disabled; `] : []),
  ];
  const note = `${count(UNREAD)} unread, ${count(DELIVERED)} delivered, ${count(EXHAUSTED)} given up`;
  const name = el('a', { href: address(world.spaceId, 'webhooks') }, 'Webhooks pending');
  const shown = tile(name, PENDING, el('span', {}, ...problems, note));
  if (problems.length > 0) shown.classList.add('bad');
  return shown;
}

/** The backlog, and the number of all stored records by state. */
export interface Now {
  readonly backlog: Backlog;
  readonly census: Census;
}

export const now = panel<Now>({
  id: 'now',
  path: '/backlog',
  hears: [
    'message',
    'waiter',
    'group',
    'budget',
    'delivery',
    'destination',
    'task',
    'barrier',
    'scope',
    'schedule',
    'question',
  ],
  everySeconds: 4,
  idleSeconds: 20,
  read: async (api, signal) => {
    const [backlog, census] = await Promise.all([
      api.get<Backlog>('/backlog', signal),
      api.get<Census>('/census', signal),
    ]);
    return { backlog, census };
  },
  learn: ({ backlog }, world) => {
    world.setClock(backlog.asOf);
  },
  render: ({ backlog, census: { asOf, ...kinds } }, world) => {
    return [
      el(
        'dl',
        { class: 'tiles' },
        tile('Ready messages', backlog.readyMessages, oldest(backlog.oldestReadyAgeSeconds, backlog, world)),
        tile('Delayed messages', backlog.delayedMessages, null),
        tile('Claimed messages', backlog.claimedMessages, null),
        failedTile({ asOf, ...kinds }, world),
        tile(el('a', { href: address(world.spaceId, 'questions') }, 'Open questions'), backlog.openQuestions, null),
        tile('Waiters', backlog.waitingWaiters, oldest(backlog.oldestWaiterAgeSeconds, backlog, world)),
        tile('Armed timers', backlog.armedTimers, null),
        usedUpTile(world),
        webhookTile(backlog, world),
      ),
      el(
        'details',
        { 'data-key': 'census' },
        el('summary', {}, 'Everything that is kept, by state'),
        el(
          'dl',
          { class: 'pairs' },
          ...Object.entries(kinds).map(([kind, counts]) =>
            el('div', {}, el('dt', {}, kind), el('dd', {}, ...stateCounts(counts))),
          ),
        ),
      ),
    ];
  },
});
