import { many } from '../../engine/declare/record.ts';
import { keyName } from '../../engine/library/keys.ts';
import type { LateDestination } from '../../engine/metrics/store-reading.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { unless } from '../../engine/redis/failures.ts';
import { membersOf, Organizations } from '../../engine/redis/organizations.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import { workerKeys } from '../../primitives/timer/keys.ts';
import { webhookKeys } from '../../primitives/webhook/keys.ts';
import { Destination } from '../../primitives/webhook/records.ts';
import type { Job } from './periodic.ts';

const everyMs = 60_000;
/** Bounds the series of a scrape: with three metrics each, as many as the routes have. */
const maxShown = 50;
/** The figure outlives a few rounds, for a store that is away meanwhile. */
const keptMs = 5 * everyMs;

const late = { script: 'webhook/late', reply: { destinations: many(Destination) } };

/** Finds the webhook destinations that are the furthest behind, in all spaces. */
export class LateDestinations {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #organizations: Organizations;

  constructor(store: Store, scripts: Scripts) {
    this.#store = store;
    this.#scripts = scripts;
    this.#organizations = new Organizations(store);
  }

  /** Leaves them in the store, for the metrics of every process. Writes nothing if none is behind. */
  async look(): Promise<void> {
    const found: LateDestination[] = [];
    await this.#organizations.forEach(await membersOf(this.#store, webhookKeys.outbox.pattern), async (member) => {
      const [org = '', space = ''] = member.split(' ');
      const args = { spaceId: space, requestId: '' };
      const answer = await this.#scripts.ask(late, org, args).catch(unless('ORG_NOT_FOUND'));
      for (const { id, waiting, unread, oldestWaitingAt } of answer?.destinations ?? [])
        found.push({ org, space, destination: id, waiting, unread, since: Date.parse(oldestWaitingAt ?? '') });
    });
    const key = keyName(workerKeys.lateDestinations, {});
    const shown = found.sort((one, other) => one.since - other.since).slice(0, maxShown);
    if (shown.length > 0) await this.#store.set(key, JSON.stringify(shown), 'PX', keptMs);
    else await this.#store.del(key);
  }
}

export const lateDestinationsJob = (late: LateDestinations): Job => ({ everyMs, run: () => late.look() });
