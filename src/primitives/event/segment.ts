import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import type { Value } from '../../engine/declare/value.ts';
import { isBefore } from './entry-id.ts';

/** A stream entry with one field: an event of the journal. */
export type JournalEntry = [entryId: string, field: [type: string, text: string]];

/** Where a segment is, as lua/event/_segments.lua replies it: the range of its events, and the key of its content. */
export interface Place {
  readonly last: string;
  readonly first: string;
  readonly count: number;
  readonly digest: string;
  readonly key: string;
  /** The kind of content; events unless given. */
  readonly holds?: 'messages';
}

/** A segment whose content is missing or differs from the packed content. */
export class DamagedSegment extends Error {
  readonly place: Place;
  constructor(place: Place, what: string) {
    super(
      `segment ${place.key} of ${place.holds ?? 'the journal'} ${what}: its ${place.count} ${place.holds ?? 'events'}, ` +
        `${place.first} to ${place.last}, cannot be read`,
    );
    this.place = place;
  }
}

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);
/** Memory per line, apart from its text. */
const lineBytes = 40;

export function placeOf(reply: Value): Place {
  const [last, first, count, digest, key] = reply as [string, string, number, string, string];
  return { last, first, count: Number(count), digest, key };
}

/** `id type text`: an event in a segment and in scripts. */
export function lineOf([entryId, [type, text]]: JournalEntry): string {
  return `${entryId} ${type} ${text}`;
}

/** The event id of a line. */
export function idOf(line = ''): string {
  return line.slice(0, line.indexOf(' '));
}

export class Segment {
  readonly place: Place;
  readonly lines: readonly string[];
  /** Its approximate size in memory. */
  readonly bytes: number;

  constructor(place: Place, text: string) {
    this.place = place;
    this.lines = text.split('\n');
    this.bytes = text.length + lineBytes * this.lines.length;
  }

  /** Throws DamagedSegment. */
  static async open(place: Place, content: Buffer | null): Promise<Segment> {
    if (!content) throw new DamagedSegment(place, 'is missing');
    if (digestOf(content) !== place.digest) throw new DamagedSegment(place, 'is damaged');
    // Content with the right digest can be inflated unless another version packed it.
    const text = await inflate(content).catch((error: Error) => {
      throw new DamagedSegment(place, `cannot be inflated (${error.message})`);
    });
    return new Segment(place, String(text));
  }

  /** The index of the first event after a position. */
  after(position: string): number {
    return this.firstPlace((line) => isBefore(position, idOf(line)));
  }

  /** The index of the first line for which `isReached` is true; it must be true for all later lines. */
  firstPlace(isReached: (line: string) => boolean): number {
    let [low, high] = [0, this.lines.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isReached(this.lines[middle] as string)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  find(entryId: string): string | undefined {
    const line = this.lines[this.after(entryId) - 1];
    return idOf(line) === entryId ? line : undefined;
  }

  /** Events from an index on. */
  entries(from: number, limit: number): JournalEntry[] {
    return this.lines.slice(from, from + limit).map((line) => {
      const type = line.indexOf(' ') + 1;
      const text = line.indexOf(' ', type) + 1;
      return [line.slice(0, type - 1), [line.slice(type, text - 1), line.slice(text)]];
    });
  }
}

/** Packs lines into a segment's content and its digest. Throws for entries that segments cannot hold. */
export async function pack(lines: readonly string[]): Promise<{ content: Buffer; digest: string }> {
  const odd = lines.find((line) => !/^\d+-\d+ [^ \n]+ [^\n]*$/.test(line));
  if (odd !== undefined)
    throw new Error(`entry ${odd.split(' ', 1)[0]} of the journal is no event: it cannot be packed`);
  return deflated(lines);
}

export async function deflated(lines: readonly string[]): Promise<{ content: Buffer; digest: string }> {
  const content = await deflate(lines.join('\n'));
  return { content, digest: digestOf(content) };
}

function digestOf(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 16);
}
