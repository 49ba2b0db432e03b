import type { Happening } from './records.ts';

/** Bars of a graph. */
export const slots = 60;

/** The events that the graphs are made of; others change none of them. */
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
  /** When the first of those that ended was sent. */
  firstSent: number;
  /** For how long the oldest had been ready, where somebody looked. */
  oldestSeconds: number | undefined;
}

/** One figure over time, oldest first. */
export type Series = readonly number[];

/** Requeued messages whose second end is looked for. */
const maxRequeued = 1_000;

export interface Figures {
  readonly spanMs: number;
  /** The counts begin later than the graphs: there may have been more. */
  readonly isPartial: boolean;
  readonly backlog: Series;
  readonly completed: Series;
  readonly failed: Series;
  readonly oldestSeconds: Series;
}

/**
 * The last minutes or hours of a space, counted from its journal: each change of a message's state is an event there, and
 * the id of a message says when it was sent, so that the age of the oldest one is known too. Bounded: one slot for each bar.
 */
export class History {
  /** How much time the graphs show. */
  readonly spanMs: number;
  readonly #slots = new Map<number, Slot>();
  /** Ids of events sort like the events. */
  #lastId = '';
  #backlog = 0;
  /** Since when the oldest that is there now has been ready. */
  #oldestSince = Number.POSITIVE_INFINITY;
  readonly #requeuedAt = new Map<string, number>();
  readonly #countedFrom: number;

  /** @param countedFrom when what has not been read begins to be counted; by default everything is */
  constructor(spanMs: number, countedFrom = Number.NEGATIVE_INFINITY) {
    this.spanMs = spanMs;
    this.#countedFrom = countedFrom;
  }

  /** Counts what has not been counted before. Events are in the order of the journal. */
  add(events: readonly Happening[]): void {
    for (const { eventId, type, aggregateId, occurredAt } of events) {
      if (eventId <= this.#lastId) continue;
      this.#lastId = eventId;
      if (!(countedTypes as readonly string[]).includes(type)) continue;
      const at = Date.parse(occurredAt);
      const slot = this.#slot(at);
      const isBegin = begins.includes(type);
      slot.net += isBegin ? 1 : -1;
      if (type === 'message.requeued') this.#requeue(aggregateId, at);
      if (!isBegin) slot.firstSent = Math.min(slot.firstSent, this.#requeuedAt.get(aggregateId) ?? sentAt(aggregateId));
      if (type === 'message.acked') slot.completed++;
      if (failures.includes(type)) slot.failed++;
    }
  }

  /** How many messages are live now, and for how long the oldest has been ready. */
  sample(now: number, backlog: number, oldestSeconds: number | null): void {
    this.#backlog = backlog;
    this.#oldestSince = oldestSeconds === null ? Number.POSITIVE_INFINITY : now - oldestSeconds * 1000;
    const slot = this.#slot(now);
    slot.oldestSeconds = Math.max(slot.oldestSeconds ?? 0, oldestSeconds ?? 0);
  }

  figures(now: number): Figures {
    const last = this.#index(now);
    const indexes = Array.from({ length: slots }, (_, n) => last - slots + 1 + n);
    for (const index of this.#slots.keys()) if (index < (indexes[0] ?? 0)) this.#slots.delete(index);
    const found = indexes.map((index) => this.#slots.get(index));
    // Backwards from what there is now: at the end of each slot those were there that ended later.
    let backlog = this.#backlog;
    let since = this.#oldestSince;
    const backlogs: number[] = [];
    const oldest: number[] = [];
    for (const [n, slot] of [...found.entries()].reverse()) {
      const end = Math.min(now, ((indexes[n] ?? 0) + 1) * (this.spanMs / slots));
      const isCounted = end > this.#countedFrom;
      backlogs[n] = isCounted ? Math.max(0, backlog) : 0;
      oldest[n] = isCounted ? (slot?.oldestSeconds ?? Math.max(0, (end - since) / 1000)) : 0;
      backlog -= slot?.net ?? 0;
      since = Math.min(since, slot?.firstSent ?? since);
    }
    return {
      spanMs: this.spanMs,
      isPartial: this.#index(this.#countedFrom) > (indexes[0] ?? 0),
      backlog: backlogs,
      completed: found.map((slot) => slot?.completed ?? 0),
      failed: found.map((slot) => slot?.failed ?? 0),
      oldestSeconds: oldest,
    };
  }

  #index(at: number): number {
    return Math.floor(at / (this.spanMs / slots));
  }

  #slot(at: number): Slot {
    return this.#slotAt(this.#index(at));
  }

  #slotAt(index: number): Slot {
    const empty: Slot = {
      net: 0,
      completed: 0,
      failed: 0,
      firstSent: Number.POSITIVE_INFINITY,
      oldestSeconds: undefined,
    };
    const slot = this.#slots.get(index) ?? empty;
    this.#slots.set(index, slot);
    return slot;
  }

  #requeue(messageId: string, at: number): void {
    this.#requeuedAt.set(messageId, at);
    const [first] = this.#requeuedAt.keys();
    if (this.#requeuedAt.size > maxRequeued && first !== undefined) this.#requeuedAt.delete(first);
  }
}

/** Ids of messages are UUIDv7: they say when the message was sent. */
export function sentAt(messageId: string): number {
  return Number.parseInt(messageId.replaceAll('-', '').slice(0, 12), 16);
}
