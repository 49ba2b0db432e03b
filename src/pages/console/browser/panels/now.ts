import type { Api } from '../api.ts';
import { type Concern, concernsOf, failedOf, nearly, rateUses, type Use } from '../concerns.ts';
import { type Child, el } from '../dom.ts';
import { count, percent, words } from '../format.ts';
import { age, bar } from '../parts.ts';
import { address } from '../place.ts';
import type { Backlog, Budgets, Census, Counts, Destinations, Mailboxes, Receivers } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import { isUsedUp } from './budgets.ts';
import { panel } from './panel.ts';

function tile(name: Child, value: number | string, note: Child): Element {
  const small = note === null ? null : el('span', { class: 'note' }, note);
  return el(
    'div',
    {},
    el('dt', {}, name),
    el('dd', {}, el('span', { class: 'figure' }, typeof value === 'number' ? count(value) : value), small),
  );
}

function oldest(seconds: number | null, { asOf }: Backlog): Child {
  if (seconds === null) return null;
  const since = new Date(Date.parse(asOf) - seconds * 1000).toISOString();
  return el('span', {}, 'oldest ', age(since));
}

function stateCounts(counts: Counts): Child[] {
  const some = Object.entries(counts).filter(([, value]) => value > 0);
  if (some.length === 0) return [el('span', { class: 'empty' }, 'none')];
  return some.map(([state, value]) => el('span', { class: 'tally' }, el('b', {}, count(value)), ` ${words(state)}`));
}

function failedTile(census: Census, world: SpaceState): Element {
  const { number, note, href } = failedOf(census, world);
  const shown = tile(el('a', { href }, 'Failed work'), number, note === '' ? null : note);
  if (number > 0) shown.classList.add('bad');
  return shown;
}

/** The use of a rate, of the space or of its organization. */
function rateTile(use: Use): Element {
  const share = percent(use.used, use.limit);
  const label = `${count(use.used)} of ${count(use.limit)}`;
  const note = el('span', {}, label, bar(`${use.title}: ${label}`, { settled: Math.min(100, share) }));
  const shown = tile(use.title, `${Math.round(share)} %`, note);
  if (use.used >= nearly * use.limit) shown.classList.add('bad');
  return shown;
}

/** What somebody should look at, the most urgent first. */
function concernList(concerns: readonly Concern[]): Element {
  if (concerns.length === 0) return el('p', { class: 'empty', 'data-key': 'concerns' }, 'Nothing needs anybody.');
  return el(
    'ul',
    { class: 'concerns', 'data-key': 'concerns' },
    ...concerns.map(({ key, title, what }) =>
      el('li', { 'data-key': key }, el('b', { class: 'problem' }, title), ' ', el('span', {}, what)),
    ),
  );
}

/** The events on their way to webhook destinations. */
function webhookTile({ outbox }: Backlog, world: SpaceState): Element {
  const { UNREAD, PENDING, DELIVERED, EXHAUSTED } = outbox;
  const note = `${count(UNREAD)} unread, ${count(DELIVERED)} delivered, ${count(EXHAUSTED)} given up`;
  return tile(el('a', { href: address(world.spaceId, 'webhooks') }, 'Webhooks pending'), PENDING, note);
}

/** The backlog, and the number of all stored records by state. */
export interface Now {
  readonly backlog: Backlog;
  readonly census: Census;
}

async function readNow(api: Api, signal: AbortSignal): Promise<Now> {
  const [backlog, census] = await Promise.all([
    api.get<Backlog>('/backlog', signal),
    api.get<Census>('/census', signal),
  ]);
  return { backlog, census };
}

function learnNow(figures: Now, world: SpaceState): void {
  world.setClock(figures.backlog.asOf);
  world.figures = figures;
}

interface Watched extends Now {
  readonly mailboxes: Mailboxes;
  readonly receivers: Receivers;
  readonly destinations: Destinations;
  readonly budgets: Budgets;
}

/** What the navigation's counts are made of, read rarely, on pages that do not show it. */
export const watch = panel<Watched>({
  id: 'watch',
  path: '/backlog',
  hears: ['message', 'destination', 'budget'],
  everySeconds: 30,
  idleSeconds: 60,
  read: async (api, signal) => {
    const [figures, mailboxes, receivers, destinations, budgets] = await Promise.all([
      readNow(api, signal),
      api.get<Mailboxes>('/mailboxes?limit=200', signal),
      api.get<Receivers>('/ops/receivers?limit=200', signal),
      api.get<Destinations>('/destinations', signal),
      api.get<Budgets>('/budgets?limit=50', signal),
    ]);
    return { ...figures, mailboxes, receivers, destinations, budgets };
  },
  learn: (answer, world) => {
    learnNow(answer, world);
    world.learnNewest(answer.mailboxes.mailboxes);
    world.learnReceivers(answer.receivers);
    world.learnDestinations(answer.destinations.destinations);
    world.learnUsedUp(answer.budgets.budgets.filter(isUsedUp));
  },
  render: () => [],
});

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
  read: readNow,
  learn: learnNow,
  render: ({ backlog, census }, world) => {
    const { asOf: _, ...kinds } = census;
    return [
      concernList(concernsOf(backlog, census, world)),
      el(
        'dl',
        { class: 'tiles' },
        tile('Ready messages', backlog.readyMessages, oldest(backlog.oldestReadyAgeSeconds, backlog)),
        tile('Delayed messages', backlog.delayedMessages, null),
        tile('Claimed messages', backlog.claimedMessages, null),
        failedTile(census, world),
        tile(el('a', { href: address(world.spaceId, 'questions') }, 'Open questions'), backlog.openQuestions, null),
        tile('Waiters', backlog.waitingWaiters, oldest(backlog.oldestWaiterAgeSeconds, backlog)),
        tile('Armed timers', backlog.armedTimers, null),
        webhookTile(backlog, world),
        ...rateUses(world.rates).map(rateTile),
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
