import { number, text } from '../../engine/declare/field.ts';
import { keyName } from '../../engine/library/keys.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { unless } from '../../engine/redis/failures.ts';
import { Organizations } from '../../engine/redis/organizations.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import { spacesOf } from '../../primitives/space/list.ts';
import { workerKeys } from '../../primitives/timer/keys.ts';
import type { Job } from './periodic.ts';
import { Quiet, quietMs } from './quiet.ts';

const everyMs = 60_000;
/** Claims per step: less than a millisecond of the store's time. */
const stepSize = 500;
/**
 * Bounds a round to 10,000 claims of a space, those whose leases end first. A later round finds the others: a claim that is
 * renewed comes to the front before each renewal.
 */
const maxSteps = 20;
/** The figure outlives a few rounds, for a store that is away meanwhile. */
const keptMs = 5 * everyMs;

const step = {
  script: 'mailbox/oldestClaim',
  reply: { claimedAt: number().orNull(), next: text().orNull(), skipped: number().orNull() },
};

/** Looks for the oldest claim of all, by `claimedAt`, which no index has: a claim that is renewed is never due. */
export class ClaimAges {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #organizations: Organizations;
  readonly #quiet: Quiet;
  readonly #maxSteps: number;
  readonly #stepSize: number;

  constructor(store: Store, scripts: Scripts, bounds: { readonly maxSteps?: number; readonly stepSize?: number } = {}) {
    this.#store = store;
    this.#scripts = scripts;
    this.#organizations = new Organizations(store);
    this.#quiet = new Quiet(store);
    this.#maxSteps = bounds.maxSteps ?? maxSteps;
    this.#stepSize = bounds.stepSize ?? stepSize;
  }

  /** Leaves the time of the oldest claim in the store, for the metrics of every process. Writes nothing if there is none. */
  async look(): Promise<void> {
    const due = await this.#quiet.due(await this.#organizations.all());
    let oldest = Number.POSITIVE_INFINITY;
    await this.#organizations.forEach(due, async (org) => {
      // A listed name without a record: its creation was interrupted.
      const found = await this.#ofOrganization(org).catch(unless('ORG_NOT_FOUND'));
      if (found === null) this.#quiet.note(org, quietMs);
      else oldest = Math.min(oldest, found);
    });
    const key = keyName(workerKeys.oldestClaim, {});
    if (oldest < Number.POSITIVE_INFINITY) await this.#store.set(key, oldest, 'PX', keptMs);
    else await this.#store.del(key);
  }

  async #ofOrganization(org: string): Promise<number | null> {
    let oldest: number | null = null;
    for await (const { spaceId } of spacesOf(this.#scripts, org)) {
      let page: { readonly from: string; readonly skip: number } = { from: '-inf', skip: 0 };
      for (let n = 0; n < this.#maxSteps; n++) {
        const args = { spaceId, requestId: '', ...page, maxClaims: this.#stepSize };
        const { claimedAt, next, skipped } = await this.#scripts.ask(step, org, args);
        if (claimedAt !== null) oldest = Math.min(oldest ?? Number.POSITIVE_INFINITY, claimedAt);
        if (next === null) break;
        page = { from: next, skip: skipped ?? 0 };
      }
    }
    return oldest;
  }
}

export function claimAgesJob(ages: ClaimAges): Job {
  return { everyMs, run: () => ages.look() };
}
