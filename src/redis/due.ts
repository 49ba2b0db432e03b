import { flag, number, text } from '../declare/field.ts';
import { type Store, serverOf } from './cluster.ts';
import { orUnavailable, unlessAway, within } from './failures.ts';
import { nowOf } from './moment.ts';
import { Organizations } from './organizations.ts';
import type { Scripts } from './scripts.ts';

const sweep = {
  script: 'timer/sweep',
  reply: { now: number(), nextDue: text().orNull(), more: flag(), changes: number() },
};

export const dueKey = 'muster:due';
/** A sweep that a crash cut short is taken up again after this long. */
const guardMs = 2000;
/** Of one step: up to some 4 ms of the store, where scopes are deep and spaces many. */
export const maxChanges = 50;
/** A sweep waits no longer for organizations on a shard that does not answer. */
const patienceMs = 500;

/**
 * Due timers: `drain` makes those of one organization real, `tell` and `takeDue` keep the index of organizations,
 * which lies outside their hash slots and so cannot be written by their scripts.
 */
export class Due {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #organizations: Organizations;
  readonly #running = new Map<string, Promise<string>>();
  /** The index was away: what it was to be told meanwhile, it does not know. */
  #missed = false;
  #telling: Promise<unknown> = Promise.resolve();

  constructor(store: Store, scripts: Scripts) {
    this.#store = store;
    this.#scripts = scripts;
    this.#organizations = new Organizations(store);
  }

  /**
   * Makes everything real that is due in the organization, so many changes at a step, and resolves with the moment up to
   * which that is so. Calls that meet while it runs share the next run.
   */
  async drain(org: string): Promise<string> {
    const running = this.#running.get(org);
    // What runs already may have read its clock before the caller did.
    if (running) await running.catch(() => undefined);
    return this.#running.get(org) ?? this.#start(org);
  }

  #start(org: string): Promise<string> {
    const run = this.#sweepAll(org).finally(() => this.#running.delete(org));
    this.#running.set(org, run);
    return run;
  }

  async #sweepAll(org: string): Promise<string> {
    for (;;) {
      const { now, nextDue, more } = await this.#scripts.ask(sweep, org, { requestId: '', spaceId: '', maxChanges });
      if (more) continue;
      // Who called needs only the organization itself; the index may lie on another shard, and is repaired.
      if (nextDue !== null) await this.tell(org, nextDue).catch(() => undefined);
      return String(now);
    }
  }

  /** A script armed a timer earlier than all others of its organization. */
  async tell(org: string, at: string): Promise<void> {
    this.#telling = orUnavailable(this.#store.zadd(dueKey, 'LT', at, org));
    await this.#telling;
  }

  /** Resolves when the index has answered what it was told last, or does not answer soon. */
  async told(): Promise<void> {
    await within(patienceMs, this.#telling).catch(() => undefined);
  }

  /**
   * Sweeps the organizations that are due. One under sweep stands in the index as `!org`, so a crash in between loses
   * nothing. While the shard with the index is away, all organizations are swept.
   */
  async takeDue(limit = 1000): Promise<void> {
    const found = await unlessAway(this.#store, patienceMs, this.#readIndex(limit), () => undefined);
    if (!found) {
      this.#missed = true;
      return this.repair(patienceMs);
    }
    const { now, members } = found;
    const orgs = new Set(members.map((member) => member.replace('!', '')));
    await this.#organizations.forEach(orgs, (org) => this.#take(org, now), patienceMs);
    if (this.#missed) {
      await this.repair(patienceMs);
      this.#missed = false;
    }
  }

  async #readIndex(limit: number): Promise<{ now: number; members: string[] }> {
    const now = await nowOf(serverOf(this.#store, dueKey));
    const members = await this.#store.zrangebyscore(dueKey, '-inf', String(now), 'LIMIT', '0', String(limit));
    return { now, members };
  }

  async #take(org: string, now: number): Promise<void> {
    await this.#store.zadd(dueKey, String(now + guardMs), `!${org}`);
    await this.#store.zrem(dueKey, org);
    await this.drain(org);
    await this.#store.zrem(dueKey, `!${org}`);
  }

  /** Looks at every organization: repairs what a crash between a script and the index lost. */
  async repair(waitMs?: number): Promise<void> {
    await this.#organizations.forEach(await this.#organizations.all(), (org) => this.drain(org), waitMs);
  }
}
