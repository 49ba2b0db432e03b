import { type Child, el } from '../dom.ts';
import { count, words } from '../format.ts';
import { age } from '../parts.ts';
import type { Backlog, Census, Counts } from '../records.ts';
import type { World } from '../world.ts';
import { panel } from './panel.ts';

function tile(name: string, value: number, note: Child): Element {
  const small = note === null ? null : el('span', { class: 'note' }, note);
  return el('div', {}, el('dt', {}, name), el('dd', {}, el('span', { class: 'figure' }, count(value)), small));
}

function oldest(seconds: number | null, { asOf }: Backlog, world: World): Child {
  if (seconds === null) return null;
  const since = new Date(Date.parse(asOf) - seconds * 1000).toISOString();
  return el('span', {}, 'oldest ', age(since, world));
}

export const backlog = panel<Backlog>({
  id: 'backlog',
  path: '/backlog',
  hears: ['message', 'waiter', 'group', 'budget', 'delivery', 'destination'],
  everySeconds: 4,
  idleSeconds: 20,
  learn: ({ asOf }, world) => world.setClock(asOf),
  render: (now, world) => {
    const { UNREAD, PENDING, DELIVERED, EXHAUSTED } = now.outbox;
    const webhooks = `${count(UNREAD)} unread, ${count(DELIVERED)} delivered, ${count(EXHAUSTED)} given up`;
    return [
      el(
        'dl',
        { class: 'tiles' },
        tile('Ready messages', now.readyMessages, oldest(now.oldestReadyAgeSeconds, now, world)),
        tile('Delayed messages', now.delayedMessages, null),
        tile('Claimed messages', now.claimedMessages, null),
        tile('Waiters', now.waitingWaiters, oldest(now.oldestWaiterAgeSeconds, now, world)),
        tile('Armed timers', now.armedTimers, null),
        tile('Webhooks pending', PENDING, webhooks),
      ),
    ];
  },
});

function stateCounts(counts: Counts): Child[] {
  const some = Object.entries(counts).filter(([, value]) => value > 0);
  if (some.length === 0) return [el('span', { class: 'empty' }, 'none')];
  return some.map(([state, value]) => el('span', { class: 'tally' }, el('b', {}, count(value)), ` ${words(state)}`));
}

export const census = panel<Census>({
  id: 'census',
  path: '/census',
  hears: ['message', 'task', 'group', 'waiter', 'barrier', 'budget', 'scope'],
  render: ({ asOf, ...kinds }) => [
    el(
      'dl',
      { class: 'pairs' },
      ...Object.entries(kinds).map(([kind, counts]) =>
        el('div', {}, el('dt', {}, kind), el('dd', {}, ...stateCounts(counts))),
      ),
    ),
  ],
});
