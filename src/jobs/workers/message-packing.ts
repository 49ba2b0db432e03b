import type { Logger } from 'pino';
import { type Answered, momentOfId, number, raw, text } from '../../engine/declare/field.ts';
import type { Value } from '../../engine/declare/value.ts';
import { Refusal, type Scripts } from '../../engine/redis/scripts.ts';
import { DamagedPage } from '../../primitives/event/damaged.ts';
import { timeOf } from '../../primitives/event/entry-id.ts';
import type { Journal } from '../../primitives/event/journal.ts';
import { pageReply } from '../../primitives/event/page.ts';
import { readEntry } from '../../primitives/event/record.ts';
import { deflated } from '../../primitives/event/segment.ts';
import { hashOf, lineOf, type MessageHash } from '../../primitives/mailbox/packed.ts';
import type { PackNow, Step } from './packing-step.ts';
import { quietMs } from './quiet.ts';

/** The number of messages in a full segment. */
const segmentSize = 100;
const pageSize = 250;
/** The size, in characters, at which a segment is full. Larger ones would take long to open. */
const fullLength = 256 * 1024;
/** A message that is still unfinished this long after it was sent is skipped and never packed. */
const patienceMs = 12 * 3_600_000;
/**
 * The longest time between the first and last message of a segment. Together with `patienceMs` this is a day, by which
 * a message may be kept too long.
 */
const spanMs = 12 * 3_600_000;
/** The longest delay between the moment at which a message could be packed and its packing. */
export const latestMs = patienceMs + spanMs;
/** How long to wait for an unfinished message. */
const waitMs = 60_000;

const sealed = {
  script: 'mailbox/sealed',
  reply: { now: number(), through: number(), position: text(), epoch: text(), last: text() },
};
const packable = {
  script: 'mailbox/packable',
  reply: { records: raw<[id: string, flat: string[], isHeld: number][]>(), looked: number() },
};
const packCall = { script: 'mailbox/pack', reply: { isPacked: number() } };
const readCall = { script: 'event/read', reply: pageReply };

/**
 * The time up to which messages can be packed, and the place in the journal where packing continues
 * (lua/mailbox/sealed.lua).
 */
type Sealed = Answered<typeof sealed.reply>;

interface SpaceRef {
  readonly org: string;
  readonly spaceId: string;
}

interface Stored {
  readonly flat: readonly string[];
  /** Whether it is a member of an undecided group. */
  readonly isHeld: boolean;
}

interface Chosen {
  readonly id: string;
  readonly flat: readonly string[];
  readonly hash: MessageHash;
}

/** Messages found in the journal that can be packed, and the position after the last one looked at. */
interface Looked {
  readonly chosen: readonly Chosen[];
  readonly position: string;
  /** There is no reason to wait for more. */
  readonly isFull: boolean;
  /** An unfinished message is next. */
  readonly isHeld: boolean;
}

/**
 * Packs finished messages in the order of their sends, which the journal records (docs/design.md, "Packed history"). So
 * a message's segment is found by the range of ids. An unfinished message, or one of an undecided group, holds the
 * others up for some hours; then it is skipped and keeps its record.
 */
export class MessagePacking {
  readonly #scripts: Scripts;
  readonly #journal: Journal;
  readonly #log: Logger;

  constructor({ scripts, journal, log }: { scripts: Scripts; journal: Journal; log: Logger }) {
    this.#scripts = scripts;
    this.#journal = journal;
    this.#log = log;
  }

  async step(org: string, spaceId: string, sealAfterMs: number, options: PackNow = {}): Promise<Step> {
    const found = await this.#scripts.find(sealed, org, { spaceId, requestId: '', sealAfterMs });
    if (!found) return { inMs: quietMs };
    const { now, through, position: from, last } = found;
    const { chosen, position, isFull, isHeld } = await this.#look({ org, spaceId }, found, options);
    const [oldest] = chosen;
    const isDue = isFull || options.isAll || (oldest && momentOfId(oldest.id) + spanMs <= now);
    if (oldest && !isDue) return { inMs: isHeld ? waitMs : quietMs };
    if (position === from) return { inMs: isHeld ? waitMs : Math.max(1_000, Math.min(quietMs, now - through)) };

    const sorted = [...chosen].sort((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => id > last);
    const rows = sorted.map(({ id, hash: { mailboxId, state, finishedAt, groupId } }) => ({
      ...{ id, mailboxId, state, groupId },
      finishedAt: Number(finishedAt),
    }));
    const ends = rows.map(({ finishedAt }) => finishedAt);
    const { content, digest } = await deflated(sorted.map(({ id, flat }) => lineOf(id, flat)));
    const { isPacked } = await this.#scripts.ask(packCall, org, {
      ...{ spaceId, requestId: '', from, through: position, digest, count: rows.length },
      first: sorted[0]?.id ?? '',
      last: sorted.at(-1)?.id ?? '',
      finishedThrough: Math.max(0, ...ends),
      rows: JSON.stringify(rows),
      segment: content,
    });
    return { isPacked: isPacked === 1 };
  }

  /** Walks through the journal until there is enough for a segment. */
  async #look(
    place: SpaceRef,
    { now, through, position: from, epoch, last }: Sealed,
    { isAll = false, size = segmentSize, patienceMs: patience = patienceMs }: PackNow,
  ): Promise<Looked> {
    const chosen: Chosen[] = [];
    let length = 0;
    let position = from;
    const looked = (isFull: boolean, isHeld: boolean): Looked => ({ chosen, position, isFull, isHeld });
    for (let cursor = from; ; ) {
      const page = await this.#page(place, cursor, epoch);
      if (page.entries.length === 0 && page.last === cursor) return looked(false, false);
      const entries = page.entries.map(readEntry);
      const sent = entries
        .filter(({ entryId, type }) => type === 'message.sent' && timeOf(entryId) <= through)
        .map(({ aggregateId }) => aggregateId);
      const records = new Map<string, Stored>();
      let [met, read] = [0, 0];
      for (const { entryId, type, aggregateId: id } of entries) {
        if (timeOf(entryId) > through) return looked(false, false);
        if (type === 'message.sent' && met++ === read) read += await this.#read(place, sent.slice(read), records);
        const { flat, isHeld } = (type === 'message.sent' && records.get(id)) || {};
        const hash = flat && hashOf(flat);
        if (flat && hash?.mailboxId && id > last) {
          const finishedAt = Number(hash.finishedAt ?? Number.POSITIVE_INFINITY);
          const sentAt = momentOfId(id);
          const isOver = finishedAt <= through && !isHeld;
          if (!isOver && sentAt + patience > now) return looked(isAll, true);
          if (isOver && finishedAt <= sentAt + patienceMs) {
            const [oldest] = chosen;
            if (oldest && sentAt > momentOfId(oldest.id) + spanMs) return looked(true, false);
            chosen.push({ id, flat, hash });
            length += flat.reduce((sum, text) => sum + text.length, 0);
          }
        }
        position = entryId;
        if (chosen.length === size || length >= fullLength) return looked(true, false);
      }
      cursor = page.last;
    }
  }

  /** A page of the journal. Skips a damaged segment; the messages in it keep their records. */
  async #page(
    { org, spaceId }: SpaceRef,
    cursor: string,
    epoch: string,
  ): Promise<{ last: string; entries: readonly Value[] }> {
    try {
      const args = { cursor, epoch: cursor === '' ? '' : epoch, limit: pageSize };
      return await this.#journal.page({ org, spaceId }, args, (more) =>
        this.#scripts.ask(readCall, org, { ...more, spaceId, requestId: '' }),
      );
    } catch (error) {
      if (error instanceof DamagedPage) return { last: error.place.last, entries: [] };
      if (!(error instanceof Refusal && error.code === 'CURSOR_EXPIRED') || cursor === '') throw error;
      this.#log.warn(
        { org, spaceId },
        'packing of messages begins with the oldest event: its place in the journal is gone',
      );
      return this.#page({ org, spaceId }, '', '');
    }
  }

  /** Reads the records of the first messages, up to about 64 KiB. Resolves with the number looked at. */
  async #read({ org, spaceId }: SpaceRef, ids: readonly string[], into: Map<string, Stored>): Promise<number> {
    const args = { spaceId, requestId: '', ids: ids.slice(0, segmentSize).join(',') };
    const { records, looked } = await this.#scripts.ask(packable, org, args);
    for (const [id, flat, isHeld] of records) into.set(id, { flat, isHeld: isHeld === 1 });
    return looked;
  }
}
