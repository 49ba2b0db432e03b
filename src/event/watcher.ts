import type { Batch } from './batch.ts';
import type { Filter } from './filter.ts';
import type { Entry } from './record.ts';

/** One watch: where it stands in the journal, and what it has found since. */
export class Watcher {
  readonly filter: Filter;
  readonly limit: number;
  position = '';
  epoch = '';
  /** What the next page is made of. */
  page: readonly Entry[] = [];
  /** The state of its feed up to which it has read; -1: not up to any. */
  version = -1;
  /** Set while it is held: ends that, with an error when it was refused. */
  end: (error?: unknown) => void = () => undefined;

  constructor(filter: Filter, limit: number) {
    this.filter = filter;
    this.limit = limit;
  }

  /** Takes what follows its position, as much as a page holds. Returns whether it found anything. */
  take(batch: Batch): boolean {
    const selected = batch.select(this.filter);
    this.page = selected.length > this.limit ? selected.slice(0, this.limit) : selected;
    const cut = selected.length > this.limit;
    // What the filter left out is passed over for good.
    this.position = cut ? (this.page.at(-1)?.entryId ?? batch.last) : batch.last;
    this.epoch = batch.epoch;
    if (cut || batch.full) this.version = -1;
    return this.page.length > 0;
  }
}
