import type { ChainableCommander } from 'ioredis';
import { addressOf, type Store } from './cluster.ts';
import { unlessAway } from './failures.ts';
import { markFormat } from './format.ts';

export const organizationsKey = 'muster:orgs';
/** So many members of a set come in one reply. */
const pageSize = 1_000;
/** Organizations of one shard that are worked on at once. */
const atOnce = 16;
/** Of which something is read with one round trip: some 0.2 ms of the store. */
const readAtOnce = 100;
/** Fall back to the cached names after this timeout. */
const patienceMs = 500;

/** A whole set, read in pages: one of any size holds nobody up. */
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

/** The names of all organizations. They lie outside the organizations' hash slots, so no script can write them. */
export function organizationNames(store: Store): Promise<ReadonlySet<string>> {
  return membersOf(store, organizationsKey);
}

/** Before its record is made: a crash in between leaves a name that is passed over, not one that no sweep finds. */
export async function listOrganization(store: Store, org: string): Promise<void> {
  await Promise.all([markFormat(store), store.sadd(organizationsKey, org)]);
}

/** What a worker does for many organizations. A shard that is away does not hold up the others. */
export class Organizations {
  readonly #store: Store;
  #seen: ReadonlySet<string> = new Set();

  constructor(store: Store) {
    this.#store = store;
  }

  /** All organizations; while the shard that names them is away, those of the last answer. */
  async all(): Promise<ReadonlySet<string>> {
    this.#seen = await unlessAway(this.#store, patienceMs, organizationNames(this.#store), (error) => {
      if (this.#seen.size === 0) throw error;
      return this.#seen;
    });
    return this.#seen;
  }

  /**
   * Does something for each of them (named by itself, or as the first word of a longer name), and throws the first
   * failure after everything was tried. After `waitMs` it stops waiting for shards that do not answer: work there ends by
   * itself.
   */
  async forEach(names: Iterable<string>, work: (name: string) => Promise<unknown>, waitMs?: number): Promise<void> {
    const failed: unknown[] = [];
    await this.#walk(names, waitMs, (lane) => atATime(lane, work, failed));
    if (failed.length > 0) throw failed[0];
  }

  /** The same with what a command replies for each of them; those of a shard are asked many at a time. */
  async readEach(
    names: Iterable<string>,
    ask: (pipeline: ChainableCommander, name: string) => unknown,
    work: (name: string, reply: unknown) => Promise<unknown>,
    waitMs?: number,
  ): Promise<void> {
    const failed: unknown[] = [];
    await this.#walk(names, waitMs, async (lane) => {
      for (let i = 0; i < lane.length; i += readAtOnce) {
        const some = lane.slice(i, i + readAtOnce);
        const pipeline = this.#store.pipeline();
        for (const name of some) ask(pipeline, name);
        const replies = new Map((await pipeline.exec())?.map((reply, n) => [some[n], reply]));
        const each = async (name: string): Promise<void> => {
          const [error, reply] = replies.get(name) ?? [];
          if (error) throw error;
          await work(name, reply);
        };
        await atATime(some, each, failed);
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

/** Works through a lane; what fails is kept. */
async function atATime(
  lane: readonly string[],
  work: (name: string) => Promise<unknown>,
  failed: unknown[],
): Promise<void> {
  for (let i = 0; i < lane.length; i += atOnce) {
    for (const result of await Promise.allSettled(lane.slice(i, i + atOnce).map(work)))
      if (result.status === 'rejected') failed.push(result.reason);
  }
}
