import { flag } from '../declare/field.ts';
import type { Store } from '../redis/connection.ts';
import { unless } from '../redis/failures.ts';
import { Organizations } from '../redis/organizations.ts';
import type { Scripts } from '../redis/scripts.ts';
import { spacesOf } from '../space/list.ts';
import type { Jobs } from './periodic.ts';

const everyMs = 60_000;
/** Of each kind in one step: about a millisecond of the store. */
const most = 100;
const ofSpace = { script: 'retention/space', reply: { more: flag() } };
const ofOrganization = { script: 'retention/records', reply: { more: flag() } };

/** Removes what was kept long enough (contract section 4, Retention), in bounded steps, each one script. */
export class Retention {
  readonly #scripts: Scripts;
  readonly #organizations: Organizations;

  constructor(store: Store, scripts: Scripts) {
    this.#scripts = scripts;
    this.#organizations = new Organizations(store);
  }

  /** Removes everything in the organization whose time is over. */
  async retain(org: string): Promise<void> {
    for await (const { spaceId } of spacesOf(this.#scripts, org)) await this.#repeat(ofSpace, org, spaceId);
    // Afterwards: scopes go with the last thing that belonged to them.
    await this.#repeat(ofOrganization, org, '');
  }

  async #repeat(step: typeof ofSpace, org: string, spaceId: string): Promise<void> {
    for (let more = true; more; ) ({ more } = await this.#scripts.ask(step, org, { spaceId, requestId: '', most }));
  }

  /** Looks at every organization. One that fails does not hold up the others. */
  async retainAll(): Promise<void> {
    // A name without a record is an organization whose creation was cut short.
    const retain = (org: string) => this.retain(org).catch(unless('ORG_NOT_FOUND'));
    await this.#organizations.forEach(await this.#organizations.all(), retain);
  }
}

/** Drives retention every minute. What one run missed, the next one does. */
export function retainJobs(retention: Retention): Jobs {
  return { retain: { everyMs, run: () => retention.retainAll() } };
}
