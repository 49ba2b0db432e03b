import type { EventDeclaration } from '../../engine/declare/event.ts';

/** The event types and aggregates that filters may name. */
export class EventNames {
  readonly aggregates: readonly string[];
  readonly #types: ReadonlySet<string>;

  constructor(events: readonly EventDeclaration[]) {
    this.#types = new Set(events.map(({ type }) => type));
    this.aggregates = [...new Set(events.map(({ aggregate }) => aggregate))];
  }

  /** Whether a text is an event type, or `aggregate.*` of an aggregate. */
  isPattern(text: string): boolean {
    return this.#types.has(text) || (text.endsWith('.*') && this.aggregates.includes(text.slice(0, -2)));
  }
}
