import type { EventDeclaration } from '../declare/event.ts';

/** Which event types and aggregates there are: what filters may name. */
export class EventNames {
  readonly aggregates: readonly string[];
  readonly #types: ReadonlySet<string>;

  constructor(events: readonly EventDeclaration[]) {
    this.#types = new Set(events.map(({ type }) => type));
    this.aggregates = [...new Set(events.map(({ aggregate }) => aggregate))];
  }

  /** Whether a text names an event type, or all of an aggregate as `aggregate.*`. */
  isPattern(text: string): boolean {
    return this.#types.has(text) || (text.endsWith('.*') && this.aggregates.includes(text.slice(0, -2)));
  }
}
