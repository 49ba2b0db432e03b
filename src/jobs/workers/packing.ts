import { setTimeout as sleep } from 'node:timers/promises';
import { flag, number, raw, text } from '../../engine/declare/field.ts';
import type { Value } from '../../engine/declare/value.ts';
import { orUnavailable, unless } from '../../engine/redis/failures.ts';
import { Organizations } from '../../engine/redis/organizations.ts';
import { timeOf } from '../../primitives/event/entry-id.ts';
import {
  DamagedSegment,
  idOf,
  type JournalEntry,
  lineOf,
  type Place,
  pack,
  placeOf,
  type Segment,
} from '../../primitives/event/segment.ts';
import { spacesOf } from '../../primitives/space/list.ts';
import { latestMs, MessagePacking } from './message-packing.ts';
import type { PackingParts, PackNow, Step } from './packing-step.ts';
import type { Job } from './periodic.ts';
import { Quiet, quietMs } from './quiet.ts';

const everyMs = 30_000;
/** The number of events in a full segment. */
const segmentSize = 1_000;
/** Later events fill up a segment that has less than this share of `segmentSize`. */
const smallShare = 0.75;
/** How long events that are too few for a segment wait for more. */
const gatherMs = 3_600_000;
/** The longest time between the first and last event of a segment. An event may be kept too long by this time. */
const spanMs = 86_400_000;

const sealed = {
  script: 'event/sealed',
  reply: { through: number(), oldest: number().orNull(), stream: text(), segment: raw<Value[]>() },
};
const packCall = { script: 'event/pack', reply: { isPacked: flag() } };

/** A pause is this many times as long as the step before it. */
const pauseFactor = 6;
const maxPauseMs = 500;
/** Gives up after this many refusals in a row: another worker is packing the same journal. */
const maxRefused = 3;

interface PackingOptions {
  /** 0 for never. */
  readonly sealAfterSeconds: number;
  /** Whether finished messages are packed as well. */
  readonly packsMessages?: boolean;
}

/**
 * Packs journal events older than SEAL_AFTER_SECONDS into segments (docs/design.md, "Packed history"). A step reads the
 * oldest entries, and a script replaces them by a segment if the stream still starts with them. So each event is in exactly
 * one place, whichever process dies in between and however many workers pack.
 */
export class Packing {
  readonly isOn: boolean;
  readonly #parts: PackingParts;
  readonly #sealAfterMs: number;
  readonly #messages: MessagePacking;
  readonly #packsMessages: boolean;
  readonly #organizations: Organizations;
  readonly #quiet: Quiet;
  #lastStep: Promise<unknown> = Promise.resolve();
  #pauseMs = 0;

  constructor(parts: PackingParts, { sealAfterSeconds, packsMessages = false }: PackingOptions) {
    this.isOn = sealAfterSeconds > 0;
    this.#parts = parts;
    this.#messages = new MessagePacking(parts);
    this.#packsMessages = packsMessages;
    this.#sealAfterMs = sealAfterSeconds * 1000;
    this.#organizations = new Organizations(parts.store);
    this.#quiet = new Quiet(parts.store);
  }

  /** The age at which messages and events are packed at the latest; undefined if never. */
  get latestSeconds(): { readonly events: number; readonly messages: number } | undefined {
    if (!this.isOn) return undefined;
    const messages = this.#packsMessages ? (this.#sealAfterMs + latestMs) / 1000 : Number.POSITIVE_INFINITY;
    return { events: (this.#sealAfterMs + gatherMs) / 1000, messages };
  }

  /** Packs the history of every organization. A failing one does not delay the others. */
  async packAll(stopping: AbortSignal): Promise<void> {
    const due = await this.#quiet.due(await this.#organizations.all());
    await this.#organizations.forEach(due, async (org) => {
      if (stopping.aborted) return;
      const quiet = await this.packOrganization(org, stopping).catch(unless('ORG_NOT_FOUND'));
      this.#quiet.note(org, quiet ?? quietMs);
    });
  }

  /** Resolves with the milliseconds until there is more to pack. */
  async packOrganization(org: string, stopping?: AbortSignal): Promise<number> {
    let inMs = quietMs;
    for await (const { spaceId } of spacesOf(this.#parts.scripts, org)) {
      inMs = Math.min(inMs, await this.packSpace(org, spaceId, stopping));
      if (this.#packsMessages) inMs = Math.min(inMs, await this.packMessages(org, spaceId, stopping));
    }
    return inMs;
  }

  packSpace(org: string, spaceId: string, stopping?: AbortSignal, now?: PackNow): Promise<number> {
    return this.#repeat(() => this.#step(org, spaceId, now), stopping, now);
  }

  packMessages(org: string, spaceId: string, stopping?: AbortSignal, now?: PackNow): Promise<number> {
    const { sealAfterMs = this.#sealAfterMs } = now ?? {};
    return this.#repeat(() => this.#messages.step(org, spaceId, sealAfterMs, now), stopping, now);
  }

  async #repeat(
    run: () => Promise<Step>,
    stopping: AbortSignal | undefined,
    now: PackNow | undefined,
  ): Promise<number> {
    for (let refused = 0; refused < maxRefused && !stopping?.aborted; ) {
      const step = await this.#inTurn(run, now ? undefined : stopping);
      if (step.inMs !== undefined) return step.inMs;
      refused = step.isPacked ? 0 : refused + 1;
    }
    return everyMs;
  }

  /**
   * Runs one step at a time. With `stopping`, it pauses between steps, so that packing takes about a seventh of a core
   * however much there is.
   */
  #inTurn(step: () => Promise<Step>, stopping: AbortSignal | undefined): Promise<Step> {
    const previous = this.#lastStep;
    const run = async (): Promise<Step> => {
      await previous;
      if (stopping) await sleep(this.#pauseMs, undefined, { signal: stopping }).catch(() => undefined);
      if (stopping?.aborted) return { inMs: everyMs };
      const begun = performance.now();
      try {
        return await step();
      } finally {
        this.#pauseMs = Math.min(pauseFactor * (performance.now() - begun), maxPauseMs);
      }
    };
    const result = run();
    this.#lastStep = result.catch(() => undefined);
    return result;
  }

  async #step(
    org: string,
    spaceId: string,
    { sealAfterMs = this.#sealAfterMs, isAll = false, size = segmentSize }: PackNow = {},
  ): Promise<Step> {
    const { scripts, store } = this.#parts;
    const found = await scripts.find(sealed, org, { spaceId, requestId: '', sealAfterMs });
    if (!found || found.oldest === null) return { inMs: quietMs };
    const { through, oldest } = found;
    if (oldest > through) return { inMs: oldest - through };

    const newest = found.segment.length > 0 ? placeOf(found.segment) : undefined;
    const isOpen = newest && newest.count < size * smallShare && oldest < timeOf(newest.first) + spanMs;
    const merged = isOpen ? await this.#open(`${org} ${spaceId}`, newest) : undefined;
    const end = (merged ? timeOf(merged.place.first) : oldest) + spanMs;
    const room = size - (merged?.lines.length ?? 0);
    const sealedEntries = await orUnavailable(store.xrange(found.stream, '-', String(through), 'COUNT', room));
    const entries = sealedEntries.filter(([entryId]) => timeOf(entryId) < end) as JournalEntry[];
    const isFull = sealedEntries.length === room || entries.length < sealedEntries.length;
    if (!isFull && !isAll && oldest + gatherMs > through) return { inMs: oldest + gatherMs - through };

    const added = entries.map(lineOf);
    const lines = [...(merged?.lines ?? []), ...added];
    // Another worker has packed them.
    if (added.length === 0) return { isPacked: false };
    const { content, digest } = await pack(lines);
    const { isPacked } = await scripts.ask(packCall, org, {
      spaceId,
      requestId: '',
      head: added[0] ?? '',
      tail: added.at(-1) ?? '',
      first: idOf(lines[0]),
      last: idOf(lines.at(-1)),
      count: lines.length,
      digest,
      merged: merged?.place.last ?? '',
      mergedDigest: merged?.place.digest ?? '',
      segment: content,
    });
    return { isPacked };
  }

  /** A damaged segment is left as it is. */
  async #open(journal: string, place: Place): Promise<Segment | undefined> {
    try {
      return await this.#parts.journal.segments.open(journal, place);
    } catch (error) {
      if (!(error instanceof DamagedSegment)) throw error;
      this.#parts.log.error({ segment: place.key, error: error.message }, 'damaged segment: it is not filled up');
      return undefined;
    }
  }
}

/** Packs every half minute. */
export function packJob(packing: Packing): Job {
  return { everyMs, run: (stopping) => packing.packAll(stopping) };
}
