import { el } from '../dom.ts';
import { count } from '../format.ts';
import { panel } from '../panels/panel.ts';
import {
  acting,
  age,
  badge,
  button,
  buttons,
  clock,
  failureOf,
  named,
  pager,
  type Row,
  section,
  type TableText,
  table,
} from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import type { Deliveries, Destination, Destinations } from '../records.ts';
import type { SpaceState } from '../space-state.ts';
import type { Page } from './page.ts';

const destinationText: TableText = {
  caption: 'Destinations',
  heads: ['Destination', 'State', 'Events', 'Failures', 'Waiting', 'Last success', 'Deliveries'],
  empty: 'No destination.',
} as const satisfies TableText;

const eventText = {
  caption: 'Events, the newest attempt first',
  heads: ['Event', 'State', 'Attempts', 'Next attempt', 'Destination'],
  empty: 'No attempt yet.',
} as const satisfies TableText;

function destinationButtons({ id, url, state, waiting }: Destination): Element {
  const target = { id, label: url };
  const isOff = state === 'DISABLED';
  return el(
    'span',
    {},
    buttons(
      waiting > 0 && button('deliverAll', 'Deliver now…', target),
      isOff ? button('enable', 'Enable again…', target) : button('disable', 'Disable…', target),
    ),
  );
}

/** How many events wait for a destination, since when, and how many more of its types are still to be read. */
function waitingOf({ waiting, oldestWaitingAt, unread, unreadIsPartial }: Destination): Element {
  return el(
    'span',
    {},
    count(waiting),
    ...(oldestWaitingAt === null ? [] : [', oldest ', age(oldestWaitingAt)]),
    ...(unread === 0 && !unreadIsPartial ? [] : [`; ${unreadIsPartial ? 'at least ' : ''}${count(unread)} unread`]),
  );
}

function destinationTable({ destinations }: Destinations, world: SpaceState): Element {
  return table(
    acting(destinationText, world.can.write),
    destinations.map((destination) => {
      const { id, url, state, disabledReason, eventTypes, lastSuccessAt } = destination;
      return {
        key: id,
        cells: [
          named(url),
          el(
            'span',
            {},
            badge(state === 'ACTIVE' && destination.failingSince !== null ? 'FAILING' : state),
            disabledReason === null ? '' : ` ${disabledReason.toLowerCase()}`,
          ),
          named(eventTypes.length === 0 ? 'all' : eventTypes.join(', ')),
          destination.failingSince === null ? '0' : failureOf(destination),
          waitingOf(destination),
          lastSuccessAt === null ? '–' : age(lastSuccessAt),
          el('a', { href: address(world.spaceId, 'webhooks', { destinationId: id }) }, 'Only these'),
          ...(world.can.write ? [destinationButtons(destination)] : []),
        ],
      };
    }),
  );
}

type Delivery = Deliveries['deliveries'][number];

/** Groups delivery attempts by event and destination, newest first. */
function byEvent(deliveries: readonly Delivery[]): Delivery[][] {
  const events = new Map<string, Delivery[]>();
  for (const one of deliveries) {
    const key = `${one.destinationId} ${one.eventId}`;
    events.set(key, [...(events.get(key) ?? []), one]);
  }
  return [...events.values()];
}

function attemptText({ attemptedAt, attempt, trigger, ...one }: Delivery): Element {
  const how = `attempt ${attempt}${trigger === 'SCHEDULED' ? '' : ` ${trigger.toLowerCase()}`}`;
  const answer = `${one.responseStatus ?? one.errorCode ?? '–'} in ${count(one.durationMs)} ms`;
  const isBad = one.state === 'FAILED';
  return el('span', {}, `${how}: `, el('span', isBad ? { class: 'problem' } : {}, answer), ', ', clock(attemptedAt));
}

/** The newest attempt; the others are folded away. */
function attemptList(attempts: readonly Delivery[]): Element {
  const [newest, ...rest] = attempts as readonly [Delivery, ...Delivery[]];
  if (rest.length === 0) return attemptText(newest);
  return el(
    'details',
    {},
    el('summary', {}, attemptText(newest), ` and ${count(rest.length)} more`),
    el('ul', { class: 'plain' }, ...rest.map((one) => el('li', { 'data-key': one.id }, attemptText(one)))),
  );
}

function eventRow(attempts: readonly Delivery[], world: SpaceState): Row {
  const [last] = attempts as readonly [Delivery, ...Delivery[]];
  const { id, eventId, eventType, destinationId, nextAttemptAt } = last;
  const again = world.can.write
    ? [buttons(button('redeliver', 'Deliver again…', { id, type: eventType, label: eventType }))]
    : [];
  return {
    key: `${destinationId} ${eventId}`,
    cells: [
      named(eventType),
      badge(last.state),
      attemptList(attempts),
      nextAttemptAt === null ? '–' : age(nextAttemptAt),
      named(world.named(destinationId, 'destination').name),
      ...again,
    ],
  };
}

export const destinations = panel<Destinations>({
  id: 'destinations',
  path: '/destinations',
  hears: ['destination', 'delivery'],
  // A failed attempt has no event of its own.
  idleSeconds: 5,
  learn: (answer, world) => {
    for (const { id, url } of answer.destinations) world.name(id, { name: url });
    world.learnDestinations(answer.destinations);
  },
  render: (answer, world) => [destinationTable(answer, world)],
});

/** Webhook destinations, and every attempt to deliver to them, by event. */
export function webhooksPage(place: PageRef): Page {
  const { query } = place;
  const destinationId = query.get('destinationId') ?? undefined;
  const wanted = { destinationId, cursor: query.get('cursor') ?? undefined };
  const deliveries = panel<Deliveries>({
    id: 'deliveries',
    path: `/deliveries${queryText({ limit: '100', ...wanted })}`,
    // An attempt has no event of its own, so the panel is read often.
    hears: ['delivery', 'destination'],
    idleSeconds: 8,
    render: (answer, world) => [
      ...(destinationId === undefined
        ? []
        : [el('p', {}, `Those of one destination. `, el('a', { href: address(world.spaceId, 'webhooks') }, 'All'))]),
      table(
        acting(eventText, world.can.write),
        byEvent(answer.deliveries).map((attempts) => eventRow(attempts, world)),
        50,
      ),
      ...pager(place, answer.nextCursor),
    ],
  });
  return {
    title: 'Webhooks',
    content: [section('Destinations', destinations.id), section('Deliveries', deliveries.id)],
    panels: [destinations, deliveries],
  };
}
