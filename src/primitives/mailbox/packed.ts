import type { Logger } from 'pino';
import type { OpenedRecords, RecordOpener } from '../../engine/route/service.ts';
import { DamagedSegment, type Place, type Segment } from '../event/segment.ts';
import type { Segments } from '../event/segments.ts';

/** The limit of the long texts passed to a script at once: more than a page needs. */
const maxBytes = 5 * 1024 * 1024;
const longLength = 256;

/** The value of a long text is its position after the rows: its first byte, counted from 1, and its length. */
type Values = readonly (string | false | readonly [from: number, bytes: number])[];
/** By message id; false if the segment has no such message. */
type RowsOfSegment = Record<string, Values | false>;
/** By the requested fields, then by the digest of the segment; false if it is damaged. */
type Rows = Record<string, Record<string, RowsOfSegment | false>>;

/** The messages that a request has opened so far. */
interface OpenedMessages extends OpenedRecords {
  readonly rows: Rows;
  readonly texts: string[];
  bytes: number;
  /** Keys of segments without content, which may have been replaced. */
  readonly missing: Set<string>;
}

/** The place of a segment, from its index entry (lua/mailbox/_packed.lua). */
export function placeOfEntry(entry: string, key: string): Place {
  const [last = '', first = '', , digest = '', count = ''] = entry.split(' ');
  return { last, first, count: Number(count), digest, key, holds: 'messages' };
}

/** The fields that may be long. They are read only on request. */
export const texts: readonly string[] = ['payload', 'result', 'lastError', 'progress'];

/** A message's line in a segment: `id [field, value, …]`, a tab, and the same list for the long texts. */
export function lineOf(id: string, flat: readonly string[]): string {
  const [head, tail]: [string[], string[]] = [[], []];
  for (let at = 0; at < flat.length; at += 2)
    (texts.includes(flat[at] as string) ? tail : head).push(flat[at] as string, flat[at + 1] as string);
  return `${id} ${JSON.stringify(head)}\t${JSON.stringify(tail)}`;
}

/** The line of a message in a segment, whose lines are sorted by id. */
export function findMessage(segment: Segment, id: string): string | undefined {
  const line = segment.lines[segment.firstPlace((one) => one >= id)];
  return line?.startsWith(`${id} `) ? line : undefined;
}

/** The stored fields and values of a line, alternating. */
export function fieldsOf(line: string, withTexts = true): string[] {
  const tab = line.indexOf('\t');
  const head = JSON.parse(line.slice(line.indexOf(' ') + 1, tab)) as string[];
  return withTexts ? [...head, ...(JSON.parse(line.slice(tab + 1)) as string[])] : head;
}

/** Opens packed messages for scripts (lua/mailbox/_packed.lua). */
export class PackedMessages implements RecordOpener {
  readonly #segments: Segments;
  readonly #log: Logger;

  constructor(segments: Segments, log: Logger) {
    this.#segments = segments;
    this.#log = log;
  }

  isWanted(detail: string): boolean {
    return detail.startsWith('messages;');
  }

  /** Adds the messages that a script asks for to those opened before. */
  async openMore(detail: string, before?: OpenedMessages): Promise<OpenedMessages> {
    const [, names = '', ...parts] = detail.split(';');
    const all: Omit<OpenedMessages, 'text'> = before ?? { rows: {}, texts: [], bytes: 0, missing: new Set() };
    const { rows, missing } = all;
    rows[names] ??= {};
    const ofFields = rows[names];
    const bytesLimit = all.bytes + maxBytes;
    for (let at = 0; at < parts.length && all.bytes < bytesLimit; ) {
      const place = placeOfEntry(parts[at++] ?? '', parts[at++] ?? '');
      const segment = await this.#openOrDamaged(place, missing);
      const ofSegment = ofFields[place.digest] || {};
      ofFields[place.digest] = segment !== 'damaged' && ofSegment;
      for (; at < parts.length && !parts[at]?.includes(' '); at++) {
        const id = parts[at] ?? '';
        if (!segment || segment === 'damaged' || all.bytes >= bytesLimit) continue;
        const line = findMessage(segment, id);
        ofSegment[id] = line === undefined ? false : valuesOf(line, names).map((value) => placed(value, all));
      }
    }
    return { ...all, text: `${JSON.stringify(rows)}\n${all.texts.join('')}` };
  }

  /**
   * Undefined if the segment has no content: the script then asks for the message again, and `missing` remembers the
   * segment. If the content is still missing then, it counts as damaged.
   */
  async #openOrDamaged(place: Place, missing: Set<string>): Promise<Segment | 'damaged' | undefined> {
    try {
      const segment = await this.open(place);
      if (!segment && missing.has(place.key)) throw this.reported(new DamagedSegment(place, 'is missing'));
      if (!segment) missing.add(place.key);
      return segment;
    } catch (error) {
      if (error instanceof DamagedSegment) return 'damaged';
      throw error;
    }
  }

  /**
   * Undefined if its content is gone, for example just replaced; the index then has the new segment. Throws DamagedSegment.
   */
  async open(place: Place): Promise<Segment | undefined> {
    return this.#segments.open('', place).catch((error) => {
      throw this.reported(error);
    });
  }

  reported(error: unknown): unknown {
    if (error instanceof DamagedSegment)
      this.#log.error({ segment: error.place.key, error: error.message }, 'packed messages cannot be read');
    return error;
  }
}

/** Long texts go after the rows: decoding them as JSON would take Redis ten times as long. */
function placed(value: string | false, all: Pick<OpenedMessages, 'texts' | 'bytes'>): Values[number] {
  if (value === false || value.length < longLength) return value;
  const bytes = Buffer.byteLength(value);
  const place = [all.bytes + 1, bytes] as const;
  all.texts.push(value);
  all.bytes += bytes;
  return place;
}

function valuesOf(line: string, names: string): (string | false)[] {
  if (names === '*') return fieldsOf(line);
  const wanted = names.split(',');
  const hash = hashOf(
    fieldsOf(
      line,
      wanted.some((name) => texts.includes(name)),
    ),
  );
  return wanted.map((name) => hash[name] ?? false);
}

/** The stored fields of a message, by name. */
export type MessageHash = Readonly<Partial<Record<string, string>>>;

export function hashOf(flat: readonly string[]): MessageHash {
  const hash: Record<string, string> = {};
  for (let at = 0; at < flat.length; at += 2) hash[flat[at] as string] = flat[at + 1] as string;
  return hash;
}
