import { setTimeout as pause } from 'node:timers/promises';
import type { Listening } from '../redis/wake.ts';
import type { Batch } from './batch.ts';
import type { Watcher } from './watcher.ts';

/** A key that was revoked while its watches are held is found out after this long, even when nothing happens. */
const admitEveryMs = 15_000;
/** In a burst of writes the journal is read at most this often: pages get longer, not more. The first is read at once. */
const paceMs = 25;
/** A watcher that comes back for its next page finds the subscription still there. */
const lingerMs = 2_000;

/**
 * All held watches of one reader. After each write to the space the journal is read once for each position that any
 * of them stands at (nearly always one), by the script that admitted them, so that a revoked key reads nothing more.
 */
export class Feed {
  /** Grows with every wake-up, and is never the same for two feeds. */
  version: number;
  readonly ready: Promise<unknown>;
  readonly watchers = new Set<Watcher>();
  readonly #listening: Listening;
  readonly #read: (position: string, epoch: string, withPaths: boolean) => Promise<Batch>;
  readonly #nextVersion: () => number;
  readonly #admit: NodeJS.Timeout;
  #linger: NodeJS.Timeout | undefined;
  #reading = false;
  #stale = false;
  #lastRead = 0;

  constructor(
    listen: (heard: () => void) => Listening,
    read: (position: string, epoch: string, withPaths: boolean) => Promise<Batch>,
    nextVersion: () => number,
  ) {
    this.#read = read;
    this.#nextVersion = nextVersion;
    this.version = nextVersion();
    this.#listening = listen(() => this.#wake());
    this.ready = this.#listening.ready;
    this.#admit = setInterval(() => this.refresh(), admitEveryMs).unref();
  }

  #wake(): void {
    this.version = this.#nextVersion();
    this.refresh();
  }

  /** Reads on for everybody; calls that meet share the next reading. */
  refresh(): void {
    this.#stale = true;
    if (!this.#reading) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    this.#reading = true;
    while (this.#stale && this.watchers.size > 0) {
      const early = this.#lastRead + paceMs - performance.now();
      if (early > 0) await pause(early);
      this.#lastRead = performance.now();
      this.#stale = false;
      const groups = new Map<string, Watcher[]>();
      for (const watcher of this.watchers) {
        const at = `${watcher.epoch} ${watcher.position}`;
        const group = groups.get(at);
        if (group) group.push(watcher);
        else groups.set(at, [watcher]);
      }
      await Promise.all([...groups.values()].map((group) => this.#serve(group)));
    }
    this.#reading = false;
  }

  async #serve(group: readonly Watcher[]): Promise<void> {
    const { version } = this;
    const [{ position, epoch } = { position: '', epoch: '' }] = group;
    try {
      const batch = await this.#read(
        position,
        epoch,
        group.some(({ filter }) => filter.scopeId !== undefined),
      );
      for (const watcher of group) {
        if (!this.watchers.has(watcher)) continue;
        watcher.version = version;
        if (watcher.take(batch)) watcher.end();
        else if (batch.full) this.#stale = true;
      }
    } catch (error) {
      for (const watcher of group) watcher.end(error);
    }
  }

  /** Calls `unused` when nobody has come back for a while. */
  linger(unused: () => void): void {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      if (this.watchers.size === 0) unused();
    }, lingerMs).unref();
  }

  stop(): void {
    clearInterval(this.#admit);
    clearTimeout(this.#linger);
    this.#listening.stop();
  }
}
