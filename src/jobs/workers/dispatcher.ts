import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { number, text } from '../../engine/declare/field.ts';
import { many } from '../../engine/declare/record.ts';
import { keyName } from '../../engine/library/keys.ts';
import type { Store } from '../../engine/redis/connection.ts';
import { unlessAway } from '../../engine/redis/failures.ts';
import { membersOf, Organizations } from '../../engine/redis/organizations.ts';
import type { Scripts } from '../../engine/redis/scripts.ts';
import { SharedRuns } from '../../engine/redis/shared-runs.ts';
import type { Listening, Wake } from '../../engine/redis/wake.ts';
import type { Journal } from '../../primitives/event/journal.ts';
import { channelOf, spaceKeys } from '../../primitives/space/keys.ts';
import { webhookKeys } from '../../primitives/webhook/keys.ts';
import { DueAttempt } from '../../primitives/webhook/records.ts';
import { throttledWarning } from './throttled-log.ts';

/** How often due times are compared with the clock. */
const tickMs = 1_000;
/** How long others wait for a space with much to do. */
const turnMs = 250;
/** Finds work that was not announced, such as a retry armed by another process or a clock set forward. */
const recheckMs = 5_000;
/** How often the index of spaces is read. */
const readIndexMs = 10_000;
/**
 * How often the journal's length of an idle space is checked. An idle space can only have missed a notification of its
 * journal.
 */
const idleCheckMs = 30_000;
/** Journal entries that a script reads per destination, of which a space may have 20. */
const entriesPerStep = 100;
/** Spaces per command. */
const pageSize = 1_000;
/** How long to wait for spaces on a silent shard. */
const timeoutMs = 1_000;
/** Do without the index after this time. */
const indexWaitMs = 500;

const index = webhookKeys.outbox.pattern;

/** The due time of a space with nothing to deliver. */
const idle = Number.POSITIVE_INFINITY;

/** `more` is -1 if the space has no destinations. */
const dispatch = {
  script: 'webhook/dispatch',
  reply: { more: number(-1), attempts: many(DueAttempt), nextInMs: number().orNull(), spaceNumber: text().orNull() },
};

export interface Attempt {
  readonly org: string;
  readonly spaceId: string;
  readonly destinationId: string;
  readonly entryId: string;
  readonly number: number;
}

/**
 * Finds due attempts in every space with destinations: when its journal grows, when an attempt falls due, and periodically.
 * All of its state is in the store, so several dispatchers may run concurrently.
 */
export class Dispatcher {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #journal: Journal;
  readonly #organizations: Organizations;
  readonly #wake: Wake;
  readonly #warn: (error: Error) => void;
  readonly #enqueue: (attempts: readonly Attempt[]) => Promise<void>;
  /** Journal subscriptions by space, as `org spaceId`. */
  readonly #spaces = new Map<string, Listening>();
  readonly #runs = new SharedRuns<void>();
  /** When to check each space again: when an attempt falls due, after `recheckMs`, or `idle`. */
  readonly #dueAt = new Map<string, number>();
  /** The journals of idle spaces, and their lengths at the last check. */
  readonly #journals = new Map<string, string>();
  readonly #lengths = new Map<string, unknown>();
  #listening: Listening | undefined;
  /** When to read the index again. */
  #readIndexAt = 0;
  #checkedIdleAt = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    parts: { store: Store; scripts: Scripts; journal: Journal; wake: Wake; log: Logger },
    enqueue: (attempts: readonly Attempt[]) => Promise<void>,
  ) {
    this.#store = parts.store;
    this.#scripts = parts.scripts;
    this.#journal = parts.journal;
    this.#organizations = new Organizations(parts.store);
    this.#wake = parts.wake;
    this.#warn = throttledWarning(parts.log, 'webhooks cannot be dispatched');
    this.#enqueue = enqueue;
  }

  /** Runs until `stop`. */
  start(): void {
    this.#listening = this.#wake.listen(index, (member) => {
      if (member === '') this.#readIndexAt = 0;
      else void this.#check(member).catch(() => undefined);
    });
    void this.#tick();
  }

  async #tick(): Promise<void> {
    try {
      if (this.#readIndexAt <= performance.now()) {
        await this.#readIndex();
        this.#readIndexAt = performance.now() + readIndexMs;
      }
      const now = performance.now();
      // A run sets its space's next due time itself.
      const due = [...this.#dueAt].flatMap(([member, at]) => (at <= now && !this.#runs.has(member) ? [member] : []));
      const turn = (member: string): Promise<void> =>
        Promise.race([this.#check(member).catch(this.#warn), sleep(turnMs, undefined, { ref: false })]);
      await this.#organizations.forEach(due, turn, timeoutMs);
      if (this.#checkedIdleAt + idleCheckMs <= now) {
        await this.#checkIdle();
        this.#checkedIdleAt = now;
      }
    } catch (error) {
      // Nothing is lost while the store is unavailable.
      if (!this.#stopped) this.#warn(error as Error);
    }
    if (!this.#stopped) this.#timer = setTimeout(() => this.#tick(), tickMs);
  }

  /** Reads which spaces have destinations. While the index's shard is down, asks the organizations themselves. */
  async #readIndex(): Promise<void> {
    const members = await unlessAway(this.#store, indexWaitMs, membersOf(this.#store, index), () => this.#readSpaces());
    for (const member of members) if (!this.#dueAt.has(member)) this.#dueAt.set(member, 0);
    for (const member of this.#dueAt.keys()) {
      if (members.has(member)) continue;
      this.#spaces.get(member)?.stop();
      this.#spaces.delete(member);
      this.#dueAt.delete(member);
      this.#journals.delete(member);
      this.#lengths.delete(member);
    }
  }

  async #checkIdle(): Promise<void> {
    await this.#organizations.readEach(
      [...this.#dueAt].flatMap(([member, at]) => (at === idle ? [member] : [])),
      (pipeline, member) => pipeline.xlen(this.#journals.get(member) ?? ''),
      async (member, length) => {
        if (length === this.#lengths.get(member)) return;
        this.#lengths.set(member, length);
        await this.#check(member);
      },
      timeoutMs,
    );
  }

  async #check(member: string): Promise<void> {
    if (!this.#spaces.has(member)) {
      const [org = '', spaceId = ''] = member.split(' ');
      const onEvent = (): void => void this.#check(member).catch(() => undefined);
      const listening = this.#wake.listen(channelOf(org, spaceId), onEvent);
      this.#spaces.set(member, listening);
      void listening.ready.then(() => this.#spaces.get(member) === listening && onEvent());
    }
    await this.poke(member);
  }

  /** Dispatches the due attempts of a space (`org spaceId`). Calls during a run share the next run. */
  poke(member: string): Promise<void> {
    return this.#runs.run(member, () => this.#dispatch(member));
  }

  async #dispatch(member: string): Promise<void> {
    const [org = '', spaceId = ''] = member.split(' ');
    let more = 1;
    while (more === 1 && !this.#stopped) {
      // If it fails, the next tick tries again.
      this.#dueAt.set(member, 0);
      const args = { spaceId, requestId: '', maxEntries: entriesPerStep };
      const found = await this.#journal.withPacked(org, spaceId, (opened) =>
        this.#scripts.ask(dispatch, org, { ...args, opened }),
      );
      more = found.more;
      if (more === -1) await this.#store.srem(index, member);
      const due = found.attempts.map((attempt) => ({ org, spaceId, ...attempt }));
      if (due.length > 0) await this.#enqueue(due);
      const inMs = found.nextInMs === null ? idle : Math.min(found.nextInMs, recheckMs);
      this.#dueAt.set(member, performance.now() + inMs);
      const { spaceNumber } = found;
      if (spaceNumber !== null) this.#journals.set(member, keyName(spaceKeys.events, { org, spaceNumber }));
    }
  }

  /** Adds spaces that a crash has kept out of the index, which is outside the organizations' hash slots. */
  async repair(): Promise<void> {
    const known = await membersOf(this.#store, index);
    const missing = [...(await this.#readSpaces())].filter((member) => !known.has(member));
    for (let i = 0; i < missing.length; i += pageSize) await this.#store.sadd(index, ...missing.slice(i, i + pageSize));
  }

  async #readSpaces(): Promise<ReadonlySet<string>> {
    const members = new Set<string>();
    const spacesOf = (org: string): string => keyName(webhookKeys.outboxSpaces, { org });
    await this.#organizations
      .readEach(
        await this.#organizations.all(),
        (pipeline, org) => pipeline.sscan(spacesOf(org), '0', 'COUNT', pageSize),
        async (org, reply) => {
          const [cursor, page] = reply as [string, string[]];
          const spaces = cursor === '0' ? page : await membersOf(this.#store, spacesOf(org));
          for (const spaceId of spaces) members.add(`${org} ${spaceId}`);
        },
        timeoutMs,
      )
      .catch(this.#warn);
    return members;
  }

  /** Stops dispatching and waits for running calls. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#listening?.stop();
    for (const listening of this.#spaces.values()) listening.stop();
    this.#spaces.clear();
    await Promise.allSettled(this.#runs.values());
  }
}
