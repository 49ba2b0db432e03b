import { el } from '../dom.ts';
import { money, shortId } from '../format.ts';
import { clock, messageLink, scopeLink } from '../parts.ts';
import { isUuid } from '../place.ts';
import type { Happening } from '../records.ts';
import type { World } from '../world.ts';

/** An event of the journal, as an item of a list. */
export function eventItem(
  { eventId, type, aggregate, aggregateId, scopeId, occurredAt, payload }: Happening,
  world: World,
) {
  const details = Object.entries(payload)
    .filter(([, value]) => value !== aggregateId && value !== scopeId && value !== null)
    .map(([name, value]) => detail(name, value, aggregate === 'budget' ? aggregateId : '', world));
  const id =
    aggregate === 'message' ? messageLink(aggregateId, world) : el('span', { class: 'id' }, shortId(aggregateId));
  return el(
    'li',
    { 'data-key': eventId },
    clock(occurredAt),
    ' ',
    el('b', {}, type),
    ' ',
    id,
    scopeId === null ? null : el('span', {}, ' run ', scopeLink(scopeId, world)),
    el('span', { class: 'note' }, details.length === 0 ? '' : ` ${details.join(', ')}`),
  );
}

export function eventList(events: readonly Happening[], world: World): Element {
  if (events.length === 0) return el('p', { class: 'empty' }, 'No event.');
  return el('ol', { class: 'events' }, ...events.map((event) => eventItem(event, world)));
}

/** Amounts are in the currency of their budget, where that is known. */
function detail(name: string, value: unknown, budgetId: string, world: World): string {
  if (typeof value !== 'string') return `${name} ${JSON.stringify(value)}`;
  const { scale, currency } = world.named(budgetId);
  if (scale === undefined || !/Minor$|^overdrawn$/.test(name)) return `${name} ${short(value)}`;
  return `${name.replace(/Minor$/, '')} ${money(value, scale)} ${currency}`;
}

function short(text: string): string {
  return isUuid(text) ? shortId(text) : text;
}
