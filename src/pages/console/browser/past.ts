import type { Api } from './api.ts';
import { type Query, queryText } from './place.ts';
import type { EventsPage, Happening } from './records.ts';

const perPage = 500;
const maxPages = 6;
/** What a page keeps of what has happened; the oldest go first. */
const maxKept = 5_000;

/** Events of the journal, and where a read goes on. */
interface Found {
  readonly events: readonly Happening[];
  readonly cursor: string;
}

/** Whether no event before `until` follows the cursor. A short page does not say so: filtered reads are bounded. */
async function hasAll(api: Api, cursor: string, until: number, signal: AbortSignal): Promise<boolean> {
  const [next] = (await api.get<EventsPage>(`/events?limit=1&cursor=${cursor}`, signal)).events;
  return next === undefined || Date.parse(next.occurredAt) >= until;
}

/**
 * All events of a filter from a place on, before `until`; undefined if they are too many. What happens while they are read is
 * heard of anyway.
 */
async function eventsOf(
  api: Api,
  filter: Query,
  from: Query,
  until: number,
  signal: AbortSignal,
): Promise<Found | undefined> {
  const found: Happening[] = [];
  let place = from;
  for (let pages = 0; pages < maxPages; pages++) {
    const query = queryText({ ...filter, limit: String(perPage), ...place });
    const { events, nextCursor } = await api.get<EventsPage>(`/watch${query}`, signal);
    found.push(...events);
    if (events.length < perPage && (await hasAll(api, nextCursor, until, signal)))
      return { events: found, cursor: nextCursor };
    place = { cursor: nextCursor };
  }
  return undefined;
}

/** The events of the longest of these spans, in order, of which a few reads have every event; undefined: of none. */
async function longestOf(
  spansMs: readonly number[],
  api: Api,
  filter: Query,
  now: number,
  signal: AbortSignal,
): Promise<(Found & { readonly spanMs: number }) | undefined> {
  for (const spanMs of spansMs) {
    const found = await eventsOf(api, filter, { since: new Date(now - spanMs).toISOString() }, now, signal);
    if (found) return { ...found, spanMs };
  }
  return undefined;
}

const hour = 3_600_000;
/** A page about one thing looks back over the longest of these of which a few reads have every event. */
const spansMs = [7 * 24 * hour, 24 * hour, 6 * hour, hour];

/** The last days or hours of one thing, as the journal has them; undefined where even an hour is too much. */
export interface Recent {
  readonly spanMs: number;
  readonly events: readonly Happening[];
}

/** Reads them once, and from then on only what has happened since. */
export class Past {
  readonly #filter: Query;
  #recent: Recent | undefined;
  #cursor: string | undefined;

  constructor(filter: Query) {
    this.#filter = filter;
  }

  async read(api: Api, now: number, signal: AbortSignal): Promise<Recent | undefined> {
    if (this.#recent && this.#cursor !== undefined) {
      const { spanMs, events } = this.#recent;
      const more = await eventsOf(api, this.#filter, { cursor: this.#cursor }, now, signal);
      if (more) return this.#take(spanMs, [...events, ...more.events], more.cursor, now);
    }
    const found = await longestOf(spansMs, api, this.#filter, now, signal);
    if (found) return this.#take(found.spanMs, found.events, found.cursor, now);
    this.#recent = undefined;
    return undefined;
  }

  #take(spanMs: number, events: readonly Happening[], cursor: string, now: number): Recent {
    // Delivery is at least once.
    const once = new Map(events.map((event) => [event.eventId, event]));
    const kept = [...once.values()].filter(({ occurredAt }) => Date.parse(occurredAt) >= now - spanMs).slice(-maxKept);
    this.#recent = { spanMs, events: kept };
    this.#cursor = cursor;
    return this.#recent;
  }
}

export const tooMuch = 'Too many events to count: not even the last hour can be read.';
