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
  /** When the first of those that ended was sent. */
  firstSent: number;
  /** For how long the oldest had been ready, where somebody looked. */
  oldestSeconds: number | undefined;
}

/** One figure over time, oldest first. */
export type Series = readonly number[];

/** Requeued messages whose second end is looked for. */
const maxRequeued = 1_000;

/** Events of a part of the time, of which only the first ones were read. */
export interface Sample {
  readonly from: number;
  readonly until: number;
  readonly events: readonly Happening[];
  /** Whether there were more. */
  readonly isCut: boolean;
}

export interface Figures {
  readonly spanMs: number;
  /** Whether what was before the console looked is estimated. */
  readonly isEstimated: boolean;
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
  /** Until when the past is estimated. */
  #estimatedUntil = Number.NEGATIVE_INFINITY;
  /** By slot: how many of those that ended since were live. */
  readonly #estimated = new Map<number, number>();

  constructor(spanMs: number) {
    this.spanMs = spanMs;
  }

  /** Counts what has not been counted before. Events are in the order of the journal. */
  add(events: readonly Happening[]): void {
    for (const { eventId, type, aggregateId, occurredAt } of events) {
      if (eventId <= this.#lastId) continue;
      this.#lastId = eventId;
      if (!(countedTypes as readonly string[]).includes(type)) continue;
      const at = Date.parse(occurredAt);
      if (at < this.#estimatedUntil) continue;
      const slot = this.#slot(at);
      const isBegin = begins.includes(type);
      slot.net += isBegin ? 1 : -1;
      if (type === 'message.requeued') this.#requeue(aggregateId, at);
      if (!isBegin) slot.firstSent = Math.min(slot.firstSent, this.#requeuedAt.get(aggregateId) ?? sentAt(aggregateId));
      if (type === 'message.acked') slot.completed++;
      if (failures.includes(type)) slot.failed++;
    }
  }

  /**
   * Estimates the past from samples of it, oldest first, up to `until`: what happened in the time that was read stands for
   * all of its part. A message that ended counts for as long as it was live, so that errors do not add up over time.
   */
  estimate(samples: readonly Sample[], until: number): void {
    this.#estimatedUntil = until;
    const slotMs = this.spanMs / slots;
    for (const { from, until: end, events, isCut } of samples) {
      const last = events.at(-1);
      const readMs = isCut && last ? Math.max(1, Date.parse(last.occurredAt) - from) : end - from;
      const some = Math.max(1, Math.ceil((end - from) / slotMs));
      const weight = Math.max(1, (end - from) / readMs) / some;
      for (const { type, aggregateId, occurredAt } of events) {
        if (begins.includes(type)) continue;
        const liveMs = Date.parse(occurredAt) - sentAt(aggregateId);
        for (let index = this.#index(from); index < this.#index(from) + some; index++) {
          const slot = this.#slotAt(index);
          slot.firstSent = Math.min(slot.firstSent, index * slotMs - liveMs);
          if (type === 'message.acked') slot.completed += weight;
          if (failures.includes(type)) slot.failed += weight;
          this.#wasLive((index + 0.5) * slotMs - liveMs, (index + 0.5) * slotMs, weight);
        }
      }
    }
  }

  /** Adds to the mean backlog of the slots in which a message was live. */
  #wasLive(from: number, until: number, weight: number): void {
    const slotMs = this.spanMs / slots;
    const first = Math.max(this.#index(from), this.#index(until) - slots);
    for (let index = first; index <= this.#index(until); index++) {
      const overlap = Math.min(until, (index + 1) * slotMs) - Math.max(from, index * slotMs);
      this.#estimated.set(index, (this.#estimated.get(index) ?? 0) + (weight * overlap) / slotMs);
    }
  }

  /** The estimated backlog of a slot; what is live now is taken to have come evenly. */
  #estimateOf(index: number, now: number): number | undefined {
    const end = (index + 1) * (this.spanMs / slots);
    if (end > this.#estimatedUntil) return undefined;
    const since = Math.min(this.#oldestSince, now);
    const share = since === now ? 0 : Math.min(1, Math.max(0, (end - since) / (now - since)));
    return Math.round((this.#estimated.get(index) ?? 0) + this.#backlog * share);
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
      backlogs[n] = this.#estimateOf(indexes[n] ?? 0, now) ?? Math.max(0, backlog);
      oldest[n] = slot?.oldestSeconds ?? Math.max(0, (end - since) / 1000);
      backlog -= slot?.net ?? 0;
      since = Math.min(since, slot?.firstSent ?? since);
    }
    return {
      spanMs: this.spanMs,
      isEstimated: Number.isFinite(this.#estimatedUntil),
      backlog: backlogs,
      completed: found.map((slot) => Math.round(slot?.completed ?? 0)),
      failed: found.map((slot) => Math.round(slot?.failed ?? 0)),
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

/** Ids of messages are UUIDv7. */
export function sentAt(messageId: string): number {
  return Number.parseInt(messageId.replaceAll('-', '').slice(0, 12), 16);
}
