import type { Happening } from './records.ts';

/** Bars of a graph. */
export const slots = 60;

/** What the graphs are made of; other events change none of them. */
export const countedTypes = [
  'message.sent',
  'message.requeued',
  'message.acked',
  'message.failed',
  'message.rejected',
  'message.expired',
  'message.cancelled',
] as const;

type Counted = (typeof countedTypes)[number];

const begins: readonly string[] = ['message.sent', 'message.requeued'] satisfies Counted[];
const failures: readonly string[] = ['message.failed', 'message.rejected', 'message.expired'] satisfies Counted[];

interface Slot {
  /** Live messages: more, or fewer. */
  net: number;
  completed: number;
  failed: number;
  /** The highest that was seen; undefined where nobody looked. */
  oldestSeconds: number | undefined;
}

/** One figure over time, oldest first; undefined where it is not known. */
export type Series = readonly (number | undefined)[];

export interface Figures {
  readonly spanMs: number;
  readonly backlog: Series;
  readonly completed: Series;
  readonly failed: Series;
  readonly oldestSeconds: Series;
}

/**
 * The last minutes or hours of a space, counted from its journal: each change of a message's state is an event there. The
 * age of the oldest message is not, and known only for as long as somebody has looked. Bounded: one slot for each bar.
 */
export class History {
  /** How much time the graphs show. */
  readonly spanMs: number;
  readonly #slots = new Map<number, Slot>();
  /** Ids of events sort like the events. */
  #lastId = '';
  #backlog = 0;

  constructor(spanMs: number) {
    this.spanMs = spanMs;
  }

  /** Counts what has not been counted before. Events are in the order of the journal. */
  add(events: readonly Happening[]): void {
    for (const { eventId, type, occurredAt } of events) {
      if (eventId <= this.#lastId) continue;
      this.#lastId = eventId;
      if (!(countedTypes as readonly string[]).includes(type)) continue;
      const slot = this.#slot(Date.parse(occurredAt));
      slot.net += begins.includes(type) ? 1 : -1;
      if (type === 'message.acked') slot.completed++;
      if (failures.includes(type)) slot.failed++;
    }
  }

  /** How many messages are live now, and for how long the oldest has been ready. */
  sample(now: number, backlog: number, oldestSeconds: number | null): void {
    this.#backlog = backlog;
    const slot = this.#slot(now);
    slot.oldestSeconds = Math.max(slot.oldestSeconds ?? 0, oldestSeconds ?? 0);
  }

  figures(now: number): Figures {
    const last = this.#index(now);
    const indexes = Array.from({ length: slots }, (_, n) => last - slots + 1 + n);
    for (const index of this.#slots.keys()) if (index < (indexes[0] ?? 0)) this.#slots.delete(index);
    const found = indexes.map((index) => this.#slots.get(index));
    // Backwards from what there is now.
    let backlog = this.#backlog;
    const backlogs = found.toReversed().map((slot) => {
      const before = backlog;
      backlog -= slot?.net ?? 0;
      return Math.max(0, before);
    });
    return {
      spanMs: this.spanMs,
      backlog: backlogs.toReversed(),
      completed: found.map((slot) => slot?.completed ?? 0),
      failed: found.map((slot) => slot?.failed ?? 0),
      oldestSeconds: found.map((slot) => slot?.oldestSeconds),
    };
  }

  #index(at: number): number {
    return Math.floor(at / (this.spanMs / slots));
  }

  #slot(at: number): Slot {
    const index = this.#index(at);
    const slot = this.#slots.get(index) ?? { net: 0, completed: 0, failed: 0, oldestSeconds: undefined };
    this.#slots.set(index, slot);
    return slot;
  }
}
