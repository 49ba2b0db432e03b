import { el } from '../dom.ts';
import { count } from '../format.ts';
import { panel } from '../panels/panel.ts';
import {
  age,
  badge,
  button,
  buttons,
  clock,
  failureOf,
  named,
  pager,
  section,
  type TableText,
  table,
} from '../parts.ts';
import { address, type PageRef, queryText } from '../place.ts';
import type { Deliveries, Destinations } from '../records.ts';
import type { World } from '../world.ts';
import type { Page } from './page.ts';

const destinationText: TableText = {
  caption: 'Destinations',
  heads: ['Destination', 'State', 'Events', 'Failures in a row', 'Last success', 'Deliveries'],
  empty: 'No destination.',
} as const satisfies TableText;

const deliveryText = {
  caption: 'Attempts, newest first',
  heads: ['Attempted', 'State', 'Event', 'Attempt', 'Response', 'Next attempt', 'Destination'],
  empty: 'No attempt yet.',
} as const satisfies TableText;

function destinationButton(id: string, url: string, state: string): Element {
  const target = { id, label: url };
  const isOff = state === 'DISABLED';
  return el(
    'span',
    {},
    buttons(isOff ? button('enable', 'Enable again…', target) : button('disable', 'Disable…', target)),
  );
}

function destinationTable({ destinations }: Destinations, world: World): Element {
  return table(
    world.can.write ? { ...destinationText, heads: [...destinationText.heads, 'Do'] } : destinationText,
    destinations.map((destination) => {
      const { id, url, state, disabledReason, eventTypes, lastSuccessAt } = destination;
      return {
        key: id,
        cells: [
          named(url),
          el('span', {}, badge(state), disabledReason === null ? '' : ` ${disabledReason.toLowerCase()}`),
          named(eventTypes.length === 0 ? 'all' : eventTypes.join(', ')),
          destination.failingSince === null ? '0' : failureOf(destination, world),
          lastSuccessAt === null ? '–' : age(lastSuccessAt, world),
          el('a', { href: address(world.spaceId, 'webhooks', { destinationId: id }) }, 'Only these'),
          ...(world.can.write ? [destinationButton(id, url, state)] : []),
        ],
      };
    }),
  );
}

type Delivery = Deliveries['deliveries'][number];

function deliveryRow(one: Delivery, world: World) {
  const again = world.can.write
    ? [buttons(button('redeliver', 'Deliver again…', { id: one.id, type: one.eventType, label: one.eventType }))]
    : [];
  return {
    key: one.id,
    cells: [
      clock(one.attemptedAt),
      badge(one.state),
      named(one.eventType),
      `${one.attempt}${one.trigger === 'SCHEDULED' ? '' : ` ${one.trigger.toLowerCase()}`}`,
      `${one.responseStatus ?? one.errorCode ?? '–'} in ${count(one.durationMs)} ms`,
      one.nextAttemptAt === null ? '–' : age(one.nextAttemptAt, world),
      named(world.named(one.destinationId, 'destination').name),
      ...again,
    ],
  };
}

export const destinations = panel<Destinations>({
  id: 'destinations',
  path: '/destinations',
  hears: ['destination', 'delivery'],
  // A failure has no event.
  idleSeconds: 5,
  learn: (answer, world) => {
    for (const { id, url } of answer.destinations) world.name(id, { name: url });
    world.learnDestinations(answer.destinations);
  },
  render: (answer, world) => [destinationTable(answer, world)],
});

/** Webhook destinations, and every attempt to deliver to them. */
export function webhooksPage(place: PageRef): Page {
  const { query } = place;
  const destinationId = query.get('destinationId') ?? undefined;
  const wanted = { destinationId, cursor: query.get('cursor') ?? undefined };
  const deliveries = panel<Deliveries>({
    id: 'deliveries',
    path: `/deliveries${queryText({ limit: '50', ...wanted })}`,
    // A success has no event of its own.
    hears: ['delivery', 'destination'],
    idleSeconds: 8,
    render: (answer, world) => [
      ...(destinationId === undefined
        ? []
        : [el('p', {}, `Those of one destination. `, el('a', { href: address(world.spaceId, 'webhooks') }, 'All'))]),
      table(
        world.can.write ? { ...deliveryText, heads: [...deliveryText.heads, 'Do'] } : deliveryText,
        answer.deliveries.map((one) => deliveryRow(one, world)),
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
