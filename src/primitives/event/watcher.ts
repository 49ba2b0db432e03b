import type { Batch } from './batch.ts';
import type { Filter } from './filter.ts';
import type { Entry } from './record.ts';

/** One watch: its position in the journal, and the events found since. */
export class Watcher {
  readonly filter: Filter;
  readonly limit: number;
  position = '';
  epoch = '';
  /** The events of the next page. */
  page: readonly Entry[] = [];
  /** The version of its feed that it has read up to; -1 for none. */
  version = -1;
  /** Set while the watch is held. Ends the hold, with an error if the read was refused. */
  end: (error?: unknown) => void = () => undefined;

  constructor(filter: Filter, limit: number) {
    this.filter = filter;
    this.limit = limit;
  }

  /** Takes up to a page of the entries after its position. Returns whether any matched. */
  take(batch: Batch): boolean {
    const selected = batch.select(this.filter);
    this.page = selected.length > this.limit ? selected.slice(0, this.limit) : selected;
    const cut = selected.length > this.limit;
    // Entries that the filter dropped are skipped for good.
    this.position = cut ? (this.page.at(-1)?.entryId ?? batch.last) : batch.last;
    this.epoch = batch.epoch;
    if (cut || batch.full) this.version = -1;
    return this.page.length > 0;
  }
}
