import { type Child, el } from '../dom.ts';
import { money, shortId } from '../format.ts';
import { kindOfEvent, kindOfField } from '../kinds.ts';
import { exactly, objectLink, scopeLink } from '../parts.ts';
import { isUuid } from '../place.ts';
import type { Happening } from '../records.ts';
import type { SpaceState } from '../space-state.ts';

/** A value in an event: an id as a link to its object, an amount in the currency of its budget, if known. */
function detail(name: string, value: unknown, { aggregate, aggregateId }: Happening, world: SpaceState): Child[] {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (isUuid(text)) {
    const kind = kindOfField(name);
    return [`${name} `, kind === undefined ? el('span', { class: 'id' }, text) : objectLink(kind, text, world)];
  }
  if (aggregate === 'budget' && /Minor$|^overdrawn$/.test(name)) {
    const { scale, currency } = world.named(aggregateId, 'budget');
    if (scale !== undefined) return [`${name.replace(/Minor$/, '')} ${money(text, scale)} ${currency}`];
  }
  return [`${name} ${text}`];
}

/** An event of the journal, as an item of a list. */
export function eventItem(event: Happening, world: SpaceState) {
  const { eventId, type, aggregateId, scopeId, occurredAt, payload } = event;
  const details = Object.entries(payload)
    .filter(([, value]) => value !== aggregateId && value !== scopeId && value !== null)
    .flatMap(([name, value], index) => [index === 0 ? ' ' : ', ', ...detail(name, value, event, world)]);
  const kind = kindOfEvent(event);
  const id =
    kind === undefined ? el('span', { class: 'id' }, shortId(aggregateId)) : objectLink(kind, aggregateId, world);
  const isOfRun = scopeId === null || scopeId === aggregateId;
  return el(
    'li',
    { 'data-key': eventId },
    exactly(occurredAt),
    ' ',
    el('b', {}, type),
    ' ',
    id,
    isOfRun ? null : el('span', {}, ' run ', scopeLink(scopeId, world)),
    el('span', { class: 'note' }, ...details),
  );
}

export function eventList(events: readonly Happening[], world: SpaceState): Element {
  if (events.length === 0) return el('p', { class: 'empty' }, 'No event.');
  return el('ol', { class: 'events' }, ...events.map((event) => eventItem(event, world)));
}
