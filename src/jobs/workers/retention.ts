import { flag } from '../../engine/declare/field.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { unless } from '../../engine/redis/failures.ts';
import { Organizations } from '../../engine/redis/organizations.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import type { Journal } from '../../primitives/event/journal.ts';
import type { PackedMessages } from '../../primitives/mailbox/packed.ts';
import { spacesOf } from '../../primitives/space/list.ts';
import { dropPacked } from './packed-retention.ts';
import type { Job } from './periodic.ts';
import { Quiet, quietMs } from './quiet.ts';

const everyMs = 60_000;
/** Removals of each kind per step, which take about a millisecond of the store's time. */
const stepSize = 100;
const ofSpace = { script: 'retention/space', reply: { more: flag() } };
const ofOrganization = { script: 'retention/records', reply: { more: flag() } };

/** Removes records after their retention (docs/reference.md, "Retention"), in bounded steps of one script each. */
export class Retention {
  readonly #scripts: Scripts;
  readonly #journal: Journal;
  readonly #packed: PackedMessages;
  readonly #organizations: Organizations;
  readonly #quiet: Quiet;

  constructor(store: Store, scripts: Scripts, journal: Journal, packed: PackedMessages) {
    this.#packed = packed;
    this.#scripts = scripts;
    this.#journal = journal;
    this.#organizations = new Organizations(store);
    this.#quiet = new Quiet(store);
  }

  /** Removes all expired records of the organization. Resolves with whether any kind took more than one step. */
  async retain(org: string): Promise<boolean> {
    let isBusy = false;
    for await (const { spaceId } of spacesOf(this.#scripts, org)) {
      isBusy = (await repeat(() => this.#ofSpace(org, spaceId))) || isBusy;
      isBusy = (await dropPacked(this.#scripts, this.#packed, org, spaceId)) || isBusy;
    }
    // After the spaces, as a scope is removed with its last record.
    const records = { spaceId: '', requestId: '', maxRecords: stepSize };
    return (await repeat(() => this.#scripts.ask(ofOrganization, org, records))) || isBusy;
  }

  #ofSpace(org: string, spaceId: string): Promise<{ readonly more: boolean }> {
    const args = { spaceId, requestId: '', maxRecords: stepSize };
    return this.#journal.withPacked(org, spaceId, (opened) => this.#scripts.ask(ofSpace, org, { ...args, opened }));
  }

  /** Processes every organization that is not quiet. A failing one does not delay the others. */
  async retainAll(): Promise<void> {
    const due = await this.#quiet.due(await this.#organizations.all());
    await this.#organizations.forEach(due, async (org) => {
      // A listed name without a record: its creation was interrupted.
      const isBusy = await this.retain(org).catch(unless('ORG_NOT_FOUND'));
      this.#quiet.note(org, isBusy ? 0 : quietMs);
    });
  }
}

/** Repeats a step while there is more. Resolves with whether there was. */
async function repeat(step: () => Promise<{ readonly more: boolean }>): Promise<boolean> {
  const isBusy = (await step()).more;
  if (isBusy) while ((await step()).more);
  return isBusy;
}

/** Runs retention every minute. */
export function retainJob(retention: Retention): Job {
  return { everyMs, run: () => retention.retainAll() };
}
