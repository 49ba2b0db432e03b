import { Raw } from '../declare/raw.ts';
import type { Value } from '../declare/value.ts';
import { stringify } from '../http/json.ts';
import type { Filter } from './filter.ts';
import type { JournalPage } from './page.ts';
import { type Entry, eventRecord, readEntry } from './record.ts';

/** Entries that follow one position, read once for everybody who waits there. */
export class Batch {
  readonly entries: readonly Entry[];
  /** The position after the last of them. */
  readonly last: string;
  readonly epoch: string;
  /** There may be more already. */
  readonly full: boolean;
  readonly #selected = new Map<string, readonly Entry[]>();

  constructor(spaceId: string, { last, epoch, entries }: JournalPage, limit: number) {
    this.last = last;
    this.epoch = epoch;
    this.entries = entries.map((entry) => toEntry(spaceId, entry));
    this.full = this.entries.length >= limit;
  }

  /** What a filter lets through; filters that are alike share the work. */
  select(filter: Filter): readonly Entry[] {
    let selected = this.#selected.get(filter.name);
    if (!selected) {
      selected = this.entries.filter((entry) => filter.matches(entry));
      this.#selected.set(filter.name, selected);
    }
    return selected;
  }
}

/** The event is made of it only when somebody gets it. */
function toEntry(spaceId: string, entry: Value): Entry {
  const { entryId, type, aggregateId, scopeId } = readEntry(entry);
  let json: Raw | undefined;
  return {
    entryId,
    type,
    aggregate: type.slice(0, type.indexOf('.')),
    aggregateId,
    scopeId,
    get json() {
      json ??= new Raw(stringify(eventRecord(spaceId, entry)));
      return json;
    },
  };
}
