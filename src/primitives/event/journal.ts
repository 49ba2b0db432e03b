import type { Logger } from 'pino';
import { raw } from '../../engine/declare/field.ts';
import type { Value } from '../../engine/declare/value.ts';
import { Refusal, type Scripts, StoreUnavailable } from '../../engine/redis/scripts.ts';
import { DamagedPage } from './damaged.ts';
import type { JournalPage, PageArgs, PageReply } from './page.ts';
import { DamagedSegment, idOf, type Place, placeOf, type Segment } from './segment.ts';
import type { Segments } from './segments.ts';

/** The most packed events that a worker's script gets at once. */
const entriesPerStep = 100;
/** Gives up a page after this many runs, which means that its segments keep changing. */
const maxRuns = 20;

const segmentCall = { script: 'event/segment', reply: { segment: raw() } };

declare module '../../engine/route/service.ts' {
  interface RoomServices {
    readonly journal: Journal;
  }
}

/** Reads the journal of a space, whose older events are packed (lua/event/_segments.lua). */
export class Journal {
  readonly segments: Segments;
  readonly #scripts: Scripts;
  readonly #log: Logger;

  constructor(scripts: Scripts, segments: Segments, log: Logger) {
    this.#scripts = scripts;
    this.segments = segments;
    this.#log = log;
  }

  /** Reads a page; `run` runs the script for its part. Throws DamagedPage. */
  async page(
    { org, spaceId }: { readonly org: string; readonly spaceId: string },
    args: PageArgs,
    run: (args: PageArgs & { readonly opened: string }) => Promise<PageReply>,
  ): Promise<JournalPage> {
    const journal = `${org} ${spaceId}`;
    const { limit } = args;
    // From a moment or a scope's creation, the packed events of a page start at the beginning of a segment.
    const cursor = /^(since|scope) /.test(args.cursor) ? '' : args.cursor;
    let opened = hint(this.segments.find(journal, cursor), cursor);
    let missing = '';
    for (let runs = 0; runs < maxRuns; runs++) {
      const { last, epoch, entries, segments } = await run({ ...args, opened });
      const found = await this.#openAll(journal, segments.map(placeOf), missing);
      if (found.missing !== undefined) {
        missing = found.missing;
        continue;
      }
      if (found.damaged && found.segments.length === 0) throw new DamagedPage(spaceId, epoch, found.damaged);
      if (last === '') {
        opened = hint(found.segments[0], cursor);
        continue;
      }
      const page: Value[] = [];
      for (const [n, segment] of found.segments.entries())
        page.push(...segment.entries(n === 0 && cursor !== '' ? segment.after(cursor) : 0, limit - page.length));
      const isCut = found.damaged !== undefined && page.length < limit;
      if (!isCut) page.push(...entries.slice(0, limit - page.length));
      const end = page.at(-1) as [string, Value] | undefined;
      return { last: end?.[0] ?? last, epoch, entries: page, isCut };
    }
    throw new StoreUnavailable('the journal is being packed');
  }

  /**
   * Opens segments up to the first damaged one. If a segment has no content, returns its digest as `missing`: retention may
   * have dropped it, so the index must be read again. If it is still in the index then (`wasMissing`), it counts as damaged.
   */
  async #openAll(journal: string, places: readonly Place[], wasMissing: string) {
    const segments: Segment[] = [];
    for (const place of places) {
      try {
        const segment = await this.segments.open(journal, place);
        if (!segment && place.digest !== wasMissing) return { segments, missing: place.digest };
        if (!segment) throw new DamagedSegment(place, 'is missing');
        segments.push(segment);
      } catch (error) {
        this.#report(error, 'a page of events cannot be read');
        return { segments, damaged: place };
      }
    }
    return { segments };
  }

  /** Logs a damaged segment; throws other errors. */
  #report(error: unknown, what: string): void {
    if (!(error instanceof DamagedSegment)) throw error;
    this.#log.error({ segment: error.place.key, error: error.message }, what);
  }

  /**
   * Runs a script that may need packed events outside a page. When it replies PACKED, opens the segment that it asks
   * for and runs it again.
   */
  async withPacked<T>(org: string, spaceId: string, run: (opened: string) => Promise<T>): Promise<T> {
    let opened = '';
    for (let runs = 1; ; runs++) {
      try {
        return await run(opened);
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'PACKED') || runs === maxRuns) throw error;
        opened = await this.#open(org, spaceId, error.detail);
      }
    }
  }

  /** The text `opened` for lua/event/_segments.lua: events after a position or, for `= id`, that event. */
  async #open(org: string, spaceId: string, wanted: string): Promise<string> {
    const [, entryId] = /^= (\S+)$/.exec(wanted) ?? [];
    const args = { spaceId, requestId: '', from: entryId ?? `(${wanted}` };
    const found = await this.#scripts.find(segmentCall, org, args);
    if (!found) return '';
    const place = placeOf(found.segment);
    const { last, digest, count } = place;
    const segment = await this.#openOrSkip(`${org} ${spaceId}`, place);
    if (entryId !== undefined) return `= ${entryId} ${last} ${digest}\n${ended(segment?.find(entryId))}`;
    if (!segment) return `${wanted} ${last} ${last} ${digest} ${count}\n`;
    const from = segment.after(wanted);
    const lines = segment.lines.slice(from, from + entriesPerStep);
    return `${wanted} ${idOf(lines.at(-1))} ${last} ${digest} 0\n${lines.map(ended).join('')}`;
  }

  /** Undefined for a damaged segment, which is logged, so that it does not block work on later events. */
  async #openOrSkip(journal: string, place: Place): Promise<Segment | undefined> {
    try {
      const segment = await this.segments.open(journal, place);
      // If retention has just dropped it, the script will ask again.
      if (!segment) throw new DamagedSegment(place, 'is missing');
      return segment;
    } catch (error) {
      this.#report(error, 'events of a damaged segment are left out');
      return undefined;
    }
  }
}

/** For event/list: how many events follow a position in its segment; -1 if no event is at that position. */
function hint(segment: Segment | undefined, position: string): string {
  if (!segment) return '';
  const { last, digest } = segment.place;
  const follow = segment.find(position) === undefined ? -1 : segment.lines.length - segment.after(position);
  return `${last} ${digest} ${follow}`;
}

function ended(line: string | undefined): string {
  return line === undefined ? '' : `${line}\n`;
}
