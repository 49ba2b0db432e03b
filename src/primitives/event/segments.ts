import type { Store } from '../../engine/redis/connection.ts';
import { orUnavailable } from '../../engine/redis/failures.ts';
import { isBefore } from './entry-id.ts';
import { type Place, Segment } from './segment.ts';

interface CacheEntry {
  readonly journal: string;
  readonly segment: Segment;
}

/** A cache of the segments that this process has opened, bounded in bytes. Reading a segment in order opens it once. */
export class Segments {
  readonly #store: Store;
  readonly #maxBytes: number;
  /** By digest and key, the most recently used last. */
  readonly #opened = new Map<string, CacheEntry>();
  readonly #opening = new Map<string, Promise<Segment | undefined>>();
  readonly #ofJournal = new Map<string, Set<Segment>>();
  #bytes = 0;
  /** How often a segment was read from the store. */
  reads = 0;

  constructor(store: Store, maxBytes = 32 * 1024 * 1024) {
    this.#store = store;
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Opens a segment; undefined if the store has no content for it. Throws DamagedSegment. journal: `org spaceId`. */
  async open(journal: string, place: Place): Promise<Segment | undefined> {
    const name = `${place.digest} ${place.key}`;
    const known = this.#opened.get(name);
    if (!known) {
      const opening = this.#opening.get(name) ?? this.#read(journal, name, place);
      this.#opening.set(name, opening);
      return opening;
    }
    this.#opened.delete(name);
    this.#opened.set(name, known);
    return known.segment;
  }

  async #read(journal: string, name: string, place: Place): Promise<Segment | undefined> {
    try {
      this.reads++;
      const content = await orUnavailable(this.#store.getBuffer(place.key));
      if (!content) return undefined;
      const segment = await Segment.open(place, content);
      this.#keep(name, { journal, segment });
      return segment;
    } finally {
      this.#opening.delete(name);
    }
  }

  #keep(name: string, opened: CacheEntry): void {
    const { journal, segment } = opened;
    this.#opened.set(name, opened);
    if (!segment.place.holds) this.#ofJournal.set(journal, (this.#ofJournal.get(journal) ?? new Set()).add(segment));
    this.#bytes += segment.bytes;
    for (const [oldest, { journal, segment }] of this.#opened) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#opened.delete(oldest);
      this.#bytes -= segment.bytes;
      const others = this.#ofJournal.get(journal);
      others?.delete(segment);
      if (others?.size === 0) this.#ofJournal.delete(journal);
    }
  }

  /** The opened segment that contains a position before its last event. */
  find(journal: string, position: string): Segment | undefined {
    for (const segment of this.#ofJournal.get(journal) ?? []) {
      const { first, last } = segment.place;
      if (!isBefore(position, first) && isBefore(position, last)) return segment;
    }
    return undefined;
  }
}
