import { setTimeout as sleep } from 'node:timers/promises';
import { flag, number, raw, text } from '../declare/field.ts';
import { addressOf, nowOf, type Store, serverOf } from './cluster.ts';
import { orUnavailable, unlessAway, within } from './failures.ts';
import { Organizations } from './organizations.ts';
import type { Scripts } from './scripts.ts';
import { SharedRuns } from './shared-runs.ts';

const reply = { now: number(), nextDue: text().orNull(), more: flag(), changes: number() };
const sweep = { script: 'timer/sweep', reply };
export const background = {
  script: 'timer/background',
  reply: { ...reply, tasks: raw<string[][] | null>() },
};

/** The index, and the channel that announces new due times to workers. */
export const dueKey = 'muster:due';
const timersOf = (org: string): string => `muster:{${org}}:timers`;
const backgroundTimersOf = (org: string): string => `muster:{${org}}:backgroundTimers`;
/** An interrupted sweep is resumed after this time. */
const guardMs = 2000;
/** Changes per step: up to about 4 ms of the store's time with deep scopes and many spaces. */
export const maxChanges = 50;
/** The time slice for background timers, shorter than the guard. */
const backgroundMs = 1000;
/** How long a look waits for one organization. Then its sweep goes on beside later looks. */
const turnMs = 250;
/** The most such sweeps. With more, a look waits for their end. */
const maxLate = 16;
const late = Symbol('late');
/** How long to wait for a silent shard. */
const timeoutMs = 500;

/** Does what a background timer asks for, as scripts cannot do it alone. task: its space and its arguments. */
export type DoTask = (org: string, task: readonly string[]) => Promise<void>;

/** Timers that scripts cannot fire themselves: for each organization a sorted set by due time. */
export interface ExtraTimers {
  timersOf(org: string): string;
  /** Fires the due timers of the organization, and announces the next one. */
  drain(org: string): Promise<unknown>;
}

/**
 * Due timers. `drain` fires those of one organization. `announce` and `takeDue` maintain the index of organizations by next
 * due time, which is outside their hash slots, so scripts cannot write it.
 */
export class Due {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #organizations: Organizations;
  readonly #extras: ExtraTimers[] = [];
  readonly #tasks = new Map<string, DoTask>();
  readonly #sweeps = new SharedRuns<string>();
  /** Organizations whose sweeps go on after their turn. If one fails, its entry `!org` has it swept again. */
  readonly #late = new Set<string>();
  /** The failure of such a sweep, for the next `takeDue` to throw. */
  #lateFailure: unknown;
  /** The index was unavailable, so announcements may be missing from it. */
  #isStale = false;
  #announcing: Promise<unknown> = Promise.resolve();

  constructor(store: Store, scripts: Scripts) {
    this.#store = store;
    this.#scripts = scripts;
    this.#organizations = new Organizations(store);
  }

  /** Includes these timers in `takeDue` and `repair`. */
  add(timers: ExtraTimers): void {
    this.#extras.push(timers);
  }

  /** Does the tasks of this kind (lua/lib/timer.lua, `timer.ask`). */
  does(kind: string, task: DoTask): void {
    this.#tasks.set(kind, task);
  }

  /**
   * Fires all due timers of the organization in bounded steps. Resolves with the time up to which all have fired. Calls
   * during a run share the next run. timer: a background timer that the call depends on, fired instead; `*` for all
   * background timers.
   */
  drain(org: string, timer = ''): Promise<string> {
    return this.#sweeps.run(`${org} ${timer}`, () => this.#sweepAll(org, timer));
  }

  async #sweepAll(org: string, timer: string): Promise<string> {
    const args = { requestId: '', spaceId: '', maxChanges };
    const end = timer === '*' ? performance.now() + backgroundMs : Number.POSITIVE_INFINITY;
    for (;;) {
      const { now, nextDue, more, changes, tasks } = await (timer === ''
        ? this.#scripts.ask(sweep, org, args).then((swept) => ({ ...swept, tasks: null }))
        : this.#scripts.ask(background, org, { ...args, name: timer === '*' ? '' : timer }));
      if (tasks) await Promise.all(tasks.map(([kind = '', ...task]) => this.#tasks.get(kind)?.(org, task)));
      if (more && performance.now() < end) continue;
      // Background timers may have armed timers that calls wait for.
      if (timer !== '' && changes > 0) await this.drain(org);
      // Not awaited, as the index's shard may be down; `repair` catches up.
      if (nextDue !== null) void this.announce(org, nextDue).catch(() => undefined);
      return String(now);
    }
  }

  /** Records that a script armed the earliest timer of its organization. */
  async announce(org: string, at: string): Promise<void> {
    const indexed = this.#store.zadd(dueKey, 'LT', at, org);
    this.#announcing = orUnavailable(Promise.all([indexed, this.#store.spublish(dueKey, at)]));
    await this.#announcing;
  }

  /** Resolves when the last announcement is answered, or after the timeout. */
  async flush(): Promise<void> {
    await within(timeoutMs, this.#announcing).catch(() => undefined);
  }

  /** The earliest entry of the index, and the store's time, by a plain read. Rejects soon if the index is unavailable. */
  async earliest(): Promise<{ now: number; member: string | undefined; at: number }> {
    const found = Promise.all([
      nowOf(serverOf(this.#store, dueKey)),
      this.#store.zrange(dueKey, '0', '0', 'WITHSCORES'),
    ]);
    const [now, [member, at]] = await within(timeoutMs, found);
    return { now, member, at: Number(at) };
  }

  /**
   * Sweeps the organizations that are due. During its sweep an organization is in the index as `!org`, so a crash loses
   * nothing. While the index's shard is down, checks all organizations. Resolves with whether the index was available.
   */
  async takeDue(limit = 1000): Promise<boolean> {
    const found = await unlessAway(this.#store, timeoutMs, this.#readIndex(limit), () => undefined);
    if (!found) {
      this.#isStale = true;
      await this.repair(timeoutMs, true);
      return false;
    }
    const { now, members } = found;
    const orgs = new Set(members.map((member) => member.replace('!', '')));
    await this.#organizations.forEach(orgs, (org) => this.#take(org, now), timeoutMs);
    if (this.#isStale) {
      await this.repair(timeoutMs);
      this.#isStale = false;
    }
    const failure = this.#lateFailure;
    this.#lateFailure = undefined;
    if (failure !== undefined) throw failure;
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
    const isLate = this.#late.has(org);
    // In this order: the reply to the second names the background timers that the first has left.
    const own = [this.drain(org, '*'), ...(isLate ? [] : [this.drain(org)])];
    const done = Promise.all([...own, ...this.#extras.map((timers) => timers.drain(org))]).then(async () => {
      if (!isLate) await this.#store.zrem(dueKey, `!${org}`);
    });
    const turn = this.#late.size < maxLate ? [sleep(turnMs, late, { ref: false })] : [];
    if ((await Promise.race([done, ...turn])) !== late) return;
    const noted = done.catch((error: unknown) => {
      this.#lateFailure = error;
    });
    if (isLate) return;
    this.#late.add(org);
    void noted.then(() => this.#late.delete(org));
  }

  /**
   * Reads every organization's earliest timer and adds those missing from the index after a crash between script and
   * index. Stops waiting for silent shards after `waitMs`.
   */
  async repair(waitMs?: number, isIndexDown = false): Promise<void> {
    const clocks = new Map<string, Promise<number>>();
    const look = async (kind: ExtraTimers, org: string, [, at]: readonly string[]): Promise<void> => {
      if (at === undefined) return;
      const timers = timersOf(org);
      const address = addressOf(this.#store, timers);
      const clock = clocks.get(address) ?? nowOf(serverOf(this.#store, timers));
      clocks.set(address, clock);
      if (Number(at) <= (await clock)) await kind.drain(org);
      else if (!isIndexDown) await this.#addToIndex(org, at);
    };
    const organizations = await this.#organizations.all();
    const walk = (kind: ExtraTimers): Promise<void> =>
      this.#organizations.readEach(
        organizations,
        (pipeline, org) => pipeline.zrange(kind.timersOf(org), '0', '0', 'WITHSCORES'),
        (org, reply) => look(kind, org, reply as string[]),
        waitMs,
      );
    const calls = { timersOf, drain: (org: string) => this.drain(org) };
    const background = { timersOf: backgroundTimersOf, drain: (org: string) => this.drain(org, '*') };
    await Promise.all([calls, background, ...this.#extras].map(walk));
  }

  async #addToIndex(org: string, at: string): Promise<void> {
    const known = await this.#store.zscore(dueKey, org);
    if (known === null || Number(known) > Number(at)) await this.announce(org, at);
  }
}
