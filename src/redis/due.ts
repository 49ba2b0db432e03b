import { flag, number, text } from '../declare/field.ts';
import { addressOf, type Store, serverOf } from './cluster.ts';
import { orUnavailable, unlessAway, within } from './failures.ts';
import { nowOf } from './moment.ts';
import { Organizations } from './organizations.ts';
import type { Scripts } from './scripts.ts';

const reply = { now: number(), nextDue: text().orNull(), more: flag(), changes: number() };
const sweep = { script: 'timer/sweep', reply };
const background = { script: 'timer/background', reply };

/** The index, and the channel on which workers hear of its new moments. */
export const dueKey = 'muster:due';
const timersOf = (org: string): string => `muster:{${org}}:timers`;
const backgroundTimersOf = (org: string): string => `muster:{${org}}:backgroundTimers`;
/** A sweep that a crash cut short is taken up again after this long. */
const guardMs = 2000;
/** Of one step: up to some 4 ms of the store, where scopes are deep and spaces many. */
export const maxChanges = 50;
/** Much work in the background is done in turns of about this long, shorter than the guard. */
const backgroundMs = 1000;
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
   * which that is so. Calls that meet while it runs share the next run. timer: of those that no call waits for, the one
   * that this call does wait for; `*`: all of them.
   */
  async drain(org: string, timer = ''): Promise<string> {
    const key = `${org} ${timer}`;
    const running = this.#running.get(key);
    // What runs already may have read its clock before the caller did.
    if (running) await running.catch(() => undefined);
    return this.#running.get(key) ?? this.#start(key, org, timer);
  }

  #start(key: string, org: string, timer: string): Promise<string> {
    const run = this.#sweepAll(org, timer).finally(() => this.#running.delete(key));
    this.#running.set(key, run);
    return run;
  }

  async #sweepAll(org: string, timer: string): Promise<string> {
    const args = { requestId: '', spaceId: '', maxChanges };
    const end = timer === '*' ? performance.now() + backgroundMs : Number.POSITIVE_INFINITY;
    for (;;) {
      const { now, nextDue, more, changes } = await (timer === ''
        ? this.#scripts.ask(sweep, org, args)
        : this.#scripts.ask(background, org, { ...args, name: timer === '*' ? '' : timer }));
      if (more && performance.now() < end) continue;
      // What it made real may have armed timers that calls wait for.
      if (timer !== '' && changes > 0) await this.drain(org);
      // Not waited for: the index may lie on a shard that is away, and is repaired.
      if (nextDue !== null) void this.tell(org, nextDue).catch(() => undefined);
      return String(now);
    }
  }

  /** A script armed a timer earlier than all others of its organization. */
  async tell(org: string, at: string): Promise<void> {
    const entered = this.#store.zadd(dueKey, 'LT', at, org);
    this.#telling = orUnavailable(Promise.all([entered, this.#store.spublish(dueKey, at)]));
    await this.#telling;
  }

  /** Resolves when the index has answered what it was told last, or does not answer soon. */
  async told(): Promise<void> {
    await within(patienceMs, this.#telling).catch(() => undefined);
  }

  /** The earliest entry of the index, and the store's moment. A plain read; rejects soon where the index is away. */
  async earliest(): Promise<{ now: number; member: string | undefined; at: number }> {
    const found = Promise.all([
      nowOf(serverOf(this.#store, dueKey)),
      this.#store.zrange(dueKey, '0', '0', 'WITHSCORES'),
    ]);
    const [now, [member, at]] = await within(patienceMs, found);
    return { now, member, at: Number(at) };
  }

  /**
   * Sweeps the organizations that are due. One under sweep stands in the index as `!org`, so a crash in between loses
   * nothing. While the shard with the index is away, all organizations are looked at. Resolves with whether it is there.
   */
  async takeDue(limit = 1000): Promise<boolean> {
    const found = await unlessAway(this.#store, patienceMs, this.#readIndex(limit), () => undefined);
    if (!found) {
      this.#missed = true;
      await this.repair(patienceMs, true);
      return false;
    }
    const { now, members } = found;
    const orgs = new Set(members.map((member) => member.replace('!', '')));
    await this.#organizations.forEach(orgs, (org) => this.#take(org, now), patienceMs);
    if (this.#missed) {
      await this.repair(patienceMs);
      this.#missed = false;
    }
    return true;
  }

  async #readIndex(limit: number): Promise<{ now: number; members: string[] }> {
    const now = await nowOf(serverOf(this.#store, dueKey));
    const members = await this.#store.zrangebyscore(dueKey, '-inf', String(now), 'LIMIT', '0', String(limit));
    return { now, members };
  }

  async #take(org: string, now: number): Promise<void> {
    await this.#store.zadd(dueKey, String(now + guardMs), `!${org}`);
    await this.#store.zrem(dueKey, org);
    await Promise.all([this.drain(org), this.drain(org, '*')]);
    await this.#store.zrem(dueKey, `!${org}`);
  }

  /**
   * Reads the earliest timer of every organization: repairs what a crash between a script and the index lost. After
   * `waitMs` it stops waiting for shards that do not answer; the index itself may be away.
   */
  async repair(waitMs?: number, indexIsAway = false): Promise<void> {
    const clocks = new Map<string, Promise<number>>();
    const look = async (org: string, timer: string, [, at]: readonly string[]): Promise<void> => {
      if (at === undefined) return;
      const timers = timersOf(org);
      const address = addressOf(this.#store, timers);
      const clock = clocks.get(address) ?? nowOf(serverOf(this.#store, timers));
      clocks.set(address, clock);
      if (Number(at) <= (await clock)) await this.drain(org, timer);
      else if (!indexIsAway) await this.#enter(org, at);
    };
    const organizations = await this.#organizations.all();
    const walk = (keyOf: (org: string) => string, timer: string): Promise<void> =>
      this.#organizations.readEach(
        organizations,
        (pipeline, org) => pipeline.zrange(keyOf(org), '0', '0', 'WITHSCORES'),
        (org, reply) => look(org, timer, reply as string[]),
        waitMs,
      );
    await Promise.all([walk(timersOf, ''), walk(backgroundTimersOf, '*')]);
  }

  async #enter(org: string, at: string): Promise<void> {
    const known = await this.#store.zscore(dueKey, org);
    if (known === null || Number(known) > Number(at)) await this.tell(org, at);
  }
}
