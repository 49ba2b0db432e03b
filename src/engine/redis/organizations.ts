import type { ChainableCommander } from 'ioredis';
import { addressOf, type Store } from './cluster.ts';
import { unlessAway } from './failures.ts';
import { markFormat } from './format.ts';

export const organizationsKey = 'muster:orgs';
/** Members of a set per reply. */
const pageSize = 1_000;
/** Organizations of one shard that are processed concurrently. */
const concurrency = 16;
/** Organizations read per round trip: about 0.2 ms of the store's time. */
const pipelineSize = 100;
/** Fall back to the cached names after this timeout. */
const timeoutMs = 500;

/** All members of a set, read in pages so that a large one does not block the store. */
export async function membersOf(store: Store, key: string): Promise<ReadonlySet<string>> {
  const members = new Set<string>();
  let cursor = '0';
  do {
    const [next, page] = await store.sscan(key, cursor, 'COUNT', pageSize);
    for (const member of page) members.add(member);
    cursor = next;
  } while (cursor !== '0');
  return members;
}

/** The names of all organizations. The set is outside their hash slots, so no script can write it. */
export function organizationNames(store: Store): Promise<ReadonlySet<string>> {
  return membersOf(store, organizationsKey);
}

/**
 * Call it before the record is created: a crash in between leaves a name that is skipped, not an organization that no sweep
 * finds.
 */
export async function listOrganization(store: Store, org: string): Promise<void> {
  await Promise.all([markFormat(store), store.sadd(organizationsKey, org)]);
}

/** Runs work for many organizations. A shard that is down does not delay the others. */
export class Organizations {
  readonly #store: Store;
  #cached: ReadonlySet<string> = new Set();

  constructor(store: Store) {
    this.#store = store;
  }

  /** All organizations; while the shard that lists them is down, the cached names. */
  async all(): Promise<ReadonlySet<string>> {
    this.#cached = await unlessAway(this.#store, timeoutMs, organizationNames(this.#store), (error) => {
      if (this.#cached.size === 0) throw error;
      return this.#cached;
    });
    return this.#cached;
  }

  /**
   * Runs `work` for each name (an organization, or a text that starts with one and a space), and throws the first failure
   * after all were tried. Stops waiting for silent shards after `waitMs`; work on them ends later by itself.
   */
  async forEach(names: Iterable<string>, work: (name: string) => Promise<unknown>, waitMs?: number): Promise<void> {
    const failed: unknown[] = [];
    await this.#walk(names, waitMs, (lane) => inBatches(lane, work, failed));
    if (failed.length > 0) throw failed[0];
  }

  /** Runs a command for each name, and `work` with each reply. Commands to one shard are pipelined. */
  async readEach(
    names: Iterable<string>,
    ask: (pipeline: ChainableCommander, name: string) => unknown,
    work: (name: string, reply: unknown) => Promise<unknown>,
    waitMs?: number,
  ): Promise<void> {
    const failed: unknown[] = [];
    await this.#walk(names, waitMs, async (lane) => {
      for (let i = 0; i < lane.length; i += pipelineSize) {
        const some = lane.slice(i, i + pipelineSize);
        const pipeline = this.#store.pipeline();
        for (const name of some) ask(pipeline, name);
        const replies = new Map((await pipeline.exec())?.map((reply, n) => [some[n], reply]));
        const each = async (name: string): Promise<void> => {
          const [error, reply] = replies.get(name) ?? [];
          if (error) throw error;
          await work(name, reply);
        };
        await inBatches(some, each, failed);
      }
    });
    if (failed.length > 0) throw failed[0];
  }

  async #walk(
    names: Iterable<string>,
    waitMs: number | undefined,
    walk: (lane: readonly string[]) => Promise<void>,
  ): Promise<void> {
    const lanes = new Map<string, string[]>();
    for (const name of names) {
      const node = addressOf(this.#store, `muster:{${name.split(' ', 1)[0]}}`);
      const lane = lanes.get(node);
      if (lane) lane.push(name);
      else lanes.set(node, [name]);
    }
    const walks = Promise.allSettled([...lanes.values()].map(walk));
    const ended = await (waitMs === undefined ? walks : unlessAway(this.#store, waitMs, walks, () => []));
    for (const one of ended) if (one.status === 'rejected') throw one.reason;
  }
}

/** Processes a lane a few at a time and collects failures. */
async function inBatches(
  lane: readonly string[],
  work: (name: string) => Promise<unknown>,
  failed: unknown[],
): Promise<void> {
  for (let i = 0; i < lane.length; i += concurrency) {
    for (const result of await Promise.allSettled(lane.slice(i, i + concurrency).map(work)))
      if (result.status === 'rejected') failed.push(result.reason);
  }
}
