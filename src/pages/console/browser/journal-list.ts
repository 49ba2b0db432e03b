import { byId, el, patch } from './dom.ts';
import { momentText, plural } from './format.ts';
import { eventItem } from './pages/events.ts';
import { shownOf } from './parts.ts';
import { press } from './press.ts';
import type { Happening } from './records.ts';
import type { SpaceState } from './space-state.ts';

const maxKept = 500;
const maxShown = 100;
/** Minimum time between redraws. */
export const drawEveryMs = 250;

/** Which events to show, and how many: only a few if `more` links to the rest. */
interface Choice {
  /** Only events of these scopes; undefined: of all. */
  readonly scopes?: (() => ReadonlySet<string>) | undefined;
  /** Only these types: `message.failed,delivery.*`; undefined: all. */
  readonly types?: string | undefined;
  /** The address of the page with the rest; undefined on that page. */
  readonly more?: string | undefined;
}

/** The newest events, optionally of one run and of some types. */
export class JournalList {
  #events: Happening[] = [];
  #seen = 0;
  #note = '';
  #choice: Choice = {};
  readonly #world: SpaceState;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(world: SpaceState, signal: AbortSignal) {
    this.#world = world;
    signal.addEventListener('abort', () => clearTimeout(this.#timer));
    this.draw();
  }

  select(choice: Choice): void {
    this.#choice = choice;
    byId('journal').classList.toggle('few', choice.more !== undefined);
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

  /** Redraws the list, for instance when names become known. */
  draw(): void {
    press.draw('journal', () => this.#draw());
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { types, more } = this.#choice;
    const scopes = this.#choice.scopes?.();
    const isWanted = types === undefined ? () => true : typeFilter(types);
    const shown = this.#events.filter(
      ({ type, scopeId }) => isWanted(type) && (!scopes || (scopeId !== null && scopes.has(scopeId))),
    );
    const limit = more === undefined ? maxShown : shownOf(2, 3);
    const items = shown.slice(0, limit).map((event) => eventItem(event, this.#world));
    patch(byId('events'), items);
    const total = `${this.#note}${plural(this.#seen, 'event')} read, newest first.`;
    const note = items.length === 0 ? `${total} None to show yet.` : total;
    const link = more === undefined ? null : el('a', { href: more }, 'More of it');
    patch(byId('journal-note'), [el('span', {}, `${note} `), ...(link ? [link] : [])]);
  }
}

/** Whether an event is of one of these types, as /watch takes them: `message.failed,delivery.*`. */
function typeFilter(types: string): (type: string) => boolean {
  const wanted = types.split(',');
  return (type) => wanted.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))));
}
