import { Raw } from '../../engine/declare/raw.ts';
import type { Value } from '../../engine/declare/value.ts';
import { stringify } from '../../engine/route/json.ts';
import type { Filter } from './filter.ts';
import type { JournalPage } from './page.ts';
import { type Entry, eventRecord, readEntry } from './record.ts';

/** The journal entries after one position, read once for all watches at that position. */
export class Batch {
  readonly entries: readonly Entry[];
  /** The position after the last entry. */
  readonly last: string;
  readonly epoch: string;
  /** More entries may follow. */
  readonly full: boolean;
  readonly #selected = new Map<string, readonly Entry[]>();

  constructor(spaceId: string, { last, epoch, entries, isCut }: JournalPage, limit: number) {
    this.last = last;
    this.epoch = epoch;
    this.entries = entries.map((entry) => toEntry(spaceId, entry));
    this.full = isCut || this.entries.length >= limit;
  }

  /** The entries that match a filter; equal filters share the result. */
  select(filter: Filter): readonly Entry[] {
    let selected = this.#selected.get(filter.name);
    if (!selected) {
      selected = this.entries.filter((entry) => filter.matches(entry));
      this.#selected.set(filter.name, selected);
    }
    return selected;
  }
}

/** Serializes the event on first use: filters may drop the entry. */
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
