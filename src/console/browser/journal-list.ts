import { byId, patch, setText } from './dom.ts';
import { momentText, plural } from './format.ts';
import { eventItem } from './pages/events.ts';
import type { Happening } from './records.ts';
import type { World } from './world.ts';

const maxKept = 500;
const maxShown = 100;
/** Below a page that is about something else. */
export const fewShown = 30;
/** Minimum time between redraws. */
export const drawEveryMs = 250;

/** The newest events, optionally of one run and of one aggregate. */
export class JournalList {
  #events: Happening[] = [];
  #seen = 0;
  #note = '';
  #limit = maxShown;
  #scopes: (() => ReadonlySet<string>) | undefined;
  #world: World;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #choice = byId<HTMLSelectElement>('aggregate');

  constructor(world: World, signal: AbortSignal) {
    this.#world = world;
    this.#choice.addEventListener('change', () => this.draw(), { signal });
    signal.addEventListener('abort', () => clearTimeout(this.#timer));
    this.draw();
  }

  /** Shows only events of these scopes, or all if undefined, and at most so many. */
  select(scopes: (() => ReadonlySet<string>) | undefined, limit = maxShown): void {
    this.#scopes = scopes;
    this.#limit = limit;
    this.draw();
  }

  add(events: readonly Happening[]): void {
    this.#seen += events.length;
    // Delivery is at least once, so drop duplicates.
    const known = new Set(this.#events.slice(0, events.length + maxShown).map(({ eventId }) => eventId));
    const fresh = events.filter(({ eventId }) => !known.has(eventId)).reverse();
    this.#events = [...fresh, ...this.#events].slice(0, maxKept);
    this.#timer ??= setTimeout(() => this.draw(), drawEveryMs);
  }

  skipped(): void {
    this.#note = `Events before ${momentText(Date.now())} are not shown here. `;
    this.draw();
  }

  /** Draws it anew, for instance because names have become known. */
  draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const scopes = this.#scopes?.();
    const aggregate = this.#choice.value;
    const shown = this.#events.filter(
      (event) =>
        (aggregate === '' || event.aggregate === aggregate) &&
        (!scopes || (event.scopeId !== null && scopes.has(event.scopeId))),
    );
    const items = shown.slice(0, this.#limit).map((event) => eventItem(event, this.#world));
    patch(byId('events'), items);
    const total = `${this.#note}${plural(this.#seen, 'event')} read, newest first.`;
    setText(byId('journal-note'), items.length === 0 ? `${total} None to show yet.` : total);
  }
}
