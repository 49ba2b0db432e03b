import { flag } from '../declare/field.ts';
import type { Store } from '../redis/connection.ts';
import { unless } from '../redis/failures.ts';
import { Organizations } from '../redis/organizations.ts';
import type { Scripts } from '../redis/scripts.ts';
import { spacesOf } from '../space/list.ts';
import type { Job } from './periodic.ts';

const everyMs = 60_000;
/** An organization of which less than a step was removed is looked at again after this long. */
const quietMs = 600_000;
/** Of each kind in one step: about a millisecond of the store. */
const maxRecords = 100;
const ofSpace = { script: 'retention/space', reply: { more: flag() } };
const ofOrganization = { script: 'retention/records', reply: { more: flag() } };

/** Removes what was kept long enough (contract section 4, Retention), in bounded steps, each one script. */
export class Retention {
  readonly #scripts: Scripts;
  readonly #organizations: Organizations;
  /** Moments of `performance.now()`. */
  readonly #quietUntil = new Map<string, number>();

  constructor(store: Store, scripts: Scripts) {
    this.#scripts = scripts;
    this.#organizations = new Organizations(store);
  }

  /** Removes everything in the organization whose time is over; resolves with whether that was more than a step of anything. */
  async retain(org: string): Promise<boolean> {
    let isBusy = false;
    for await (const { spaceId } of spacesOf(this.#scripts, org))
      isBusy = (await this.#repeat(ofSpace, org, spaceId)) || isBusy;
    // Afterwards: scopes go with the last thing that belonged to them.
    return (await this.#repeat(ofOrganization, org, '')) || isBusy;
  }

  async #repeat(step: typeof ofSpace, org: string, spaceId: string): Promise<boolean> {
    const again = async () => (await this.#scripts.ask(step, org, { spaceId, requestId: '', maxRecords })).more;
    const isBusy = await again();
    if (isBusy) while (await again());
    return isBusy;
  }

  /** Looks at every organization of which there may be much to remove. One that fails does not hold up the others. */
  async retainAll(): Promise<void> {
    const now = performance.now();
    const all = [...(await this.#organizations.all())];
    await this.#organizations.forEach(
      all.filter((org) => (this.#quietUntil.get(org) ?? 0) <= now),
      async (org) => {
        // A name without a record is an organization whose creation was cut short.
        const isBusy = await this.retain(org).catch(unless('ORG_NOT_FOUND'));
        this.#quietUntil.set(org, isBusy ? 0 : now + quietMs);
      },
    );
  }
}

/** Drives retention every minute. What one run missed, the next one does. */
export function retainJob(retention: Retention): Job {
  return { everyMs, run: () => retention.retainAll() };
}
