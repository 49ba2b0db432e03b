import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import type { Listening } from '../../engine/redis/wake.ts';
import type { Batch } from './batch.ts';
import type { Watcher } from './watcher.ts';

/** Watches of a revoked key end after this time even if no event occurs. */
const recheckKeyMs = 15_000;
/** Minimum time between reads in a burst of writes, which makes for fewer and longer pages. The first read is immediate. */
const minIntervalMs = 25;
/** So many watches get a page before other requests of the process have their turn, for twice as long. */
const servedAtOnce = 50;
const maxPauseMs = 10;
/** How long the subscription is kept for watchers that return for their next page. */
const lingerMs = 2_000;

/**
 * All held watches of one reader. After each write to the space, it reads the journal once for each position that a watch is
 * at, nearly always one. The same script checks the key, so a revoked key reads nothing more.
 */
export class Feed {
  /** Increases with every wake-up. Unique across feeds. */
  version: number;
  readonly ready: Promise<unknown>;
  readonly watchers = new Set<Watcher>();
  readonly #listening: Listening;
  readonly #read: (position: string, epoch: string, withPaths: boolean) => Promise<Batch>;
  readonly #nextVersion: () => number;
  readonly #recheck: NodeJS.Timeout;
  #linger: NodeJS.Timeout | undefined;
  #reading = false;
  #stale = false;
  #lastRead = 0;

  constructor(
    listen: (onWrite: () => void) => Listening,
    read: (position: string, epoch: string, withPaths: boolean) => Promise<Batch>,
    nextVersion: () => number,
  ) {
    this.#read = read;
    this.#nextVersion = nextVersion;
    this.version = nextVersion();
    this.#listening = listen(() => this.#wake());
    this.ready = this.#listening.ready;
    this.#recheck = setInterval(() => this.refresh(), recheckKeyMs).unref();
  }

  #wake(): void {
    this.version = this.#nextVersion();
    this.refresh();
  }

  /** Reads new entries for all watchers; calls during a read share the next one. */
  refresh(): void {
    this.#stale = true;
    if (!this.#reading) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    this.#reading = true;
    while (this.#stale && this.watchers.size > 0) {
      const waitMs = this.#lastRead + minIntervalMs - performance.now();
      if (waitMs > 0) await pause(waitMs);
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
      let begun = performance.now();
      for (const [n, watcher] of group.entries()) {
        if (n % servedAtOnce === servedAtOnce - 1) {
          // The pages are written when what waits for them goes on.
          await turn();
          await pause(Math.min(maxPauseMs, 2 * (performance.now() - begun)));
          begun = performance.now();
        }
        // It may have left meanwhile, or have come back for what is behind this page.
        if (!this.watchers.has(watcher) || watcher.position !== position || watcher.epoch !== epoch) continue;
        watcher.version = version;
        if (watcher.take(batch)) watcher.end();
        else if (batch.full) this.#stale = true;
      }
    } catch (error) {
      for (const watcher of group) watcher.end(error);
    }
  }

  /** Calls `unused` if no watcher comes back in time. */
  linger(unused: () => void): void {
    clearTimeout(this.#linger);
    this.#linger = setTimeout(() => {
      if (this.watchers.size === 0) unused();
    }, lingerMs).unref();
  }

  stop(): void {
    clearInterval(this.#recheck);
    clearTimeout(this.#linger);
    this.#listening.stop();
  }
}
