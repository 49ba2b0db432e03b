import type { Logger } from 'pino';
import { number } from '../declare/field.ts';
import { many } from '../declare/record.ts';
import type { Store } from '../redis/connection.ts';
import { orUnavailable, unlessAway } from '../redis/failures.ts';
import { keyName } from '../redis/keys.ts';
import { membersOf, Organizations } from '../redis/organizations.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Listening, Wake } from '../redis/wake.ts';
import { channelOf } from '../space/keys.ts';
import { webhookKeys } from '../webhook/keys.ts';
import { DueAttempt } from '../webhook/records.ts';
import { nowAndThen } from './steady-worker.ts';

/** What is due by the clock alone (a retry) is noticed after this long; what is new at once. */
const tickMs = 1_000;
/** What nobody told of (a retry that another process armed, a clock set forward) is noticed after this long. */
const lookAgainMs = 5_000;
/** What a crash kept from the index is found out after this long. */
const repairEveryMs = 30_000;
/** Journal entries that one script reads for a destination, of which a space may have 20. */
const entriesAtOnce = 100;
/** Spaces that one command enters in the index. */
const spacesAtOnce = 1_000;
/** Looking waits no longer for spaces on a shard that does not answer. */
const patienceMs = 1_000;
/** While the index is silent for this long, the spaces that it named before are looked at. */
const indexMs = 500;

const index = webhookKeys.outbox.pattern;

/** `more`: -1 where the space has no destinations. */
const dispatch = {
  script: 'webhook/dispatch',
  reply: { more: number(-1), attempts: many(DueAttempt), nextInMs: number().orNull() },
};

/** One attempt that is due. */
export interface Attempt {
  readonly org: string;
  readonly spaceId: string;
  readonly destinationId: string;
  readonly entryId: string;
  readonly number: number;
}

/**
 * Finds attempts that are due: in every space that has destinations, when its journal grows and every second. All it
 * knows stands in the store; several of it may run at once.
 */
export class Dispatcher {
  readonly #store: Store;
  readonly #scripts: Scripts;
  readonly #organizations: Organizations;
  readonly #wake: Wake;
  readonly #complain: (error: Error) => void;
  readonly #hand: (attempts: readonly Attempt[]) => Promise<void>;
  /** `org spaceId` of the spaces that are listened to. */
  readonly #spaces = new Map<string, Listening>();
  readonly #running = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  /** When a space is to be looked at again: when something is due there by the clock, or after a while. */
  readonly #dueAt = new Map<string, number>();
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;
  #repaired = Number.NEGATIVE_INFINITY;

  constructor(
    parts: { store: Store; scripts: Scripts; wake: Wake; log: Logger },
    hand: (attempts: readonly Attempt[]) => Promise<void>,
  ) {
    this.#store = parts.store;
    this.#scripts = parts.scripts;
    this.#organizations = new Organizations(parts.store);
    this.#wake = parts.wake;
    this.#complain = nowAndThen(parts.log, 'webhooks cannot be dispatched');
    this.#hand = hand;
  }

  /** Begins to look; goes on until `stop`. */
  start(): void {
    void this.#tick();
  }

  async #tick(): Promise<void> {
    try {
      const members = await this.#members();
      for (const [member, listening] of this.#spaces) {
        if (members.has(member)) continue;
        listening.stop();
        this.#spaces.delete(member);
        this.#dueAt.delete(member);
      }
      const now = performance.now();
      const due = [...members].filter((member) => (this.#dueAt.get(member) ?? 0) <= now);
      await this.#organizations.forEach(due, (member) => this.#look(member), patienceMs);
    } catch (error) {
      // The store will be back; nothing is lost meanwhile.
      if (!this.#stopped) this.#complain(error as Error);
    }
    if (!this.#stopped) this.#timer = setTimeout(() => this.#tick(), tickMs);
  }

  async #look(member: string): Promise<void> {
    if (!this.#spaces.has(member)) {
      const [org = '', spaceId = ''] = member.split(' ');
      const heard = (): void => void this.#look(member).catch(() => undefined);
      const listening = this.#wake.listen(channelOf(org, spaceId), heard);
      this.#spaces.set(member, listening);
      void listening.ready.then(() => this.#spaces.get(member) === listening && heard());
    }
    await this.poke(member);
  }

  /** Dispatches what is due in a space (`org spaceId`); calls that meet while it runs share the next run. */
  async poke(member: string): Promise<void> {
    const running = this.#running.get(member);
    if (running) {
      this.#again.add(member);
      return running;
    }
    const run = this.#dispatch(member).finally(() => this.#running.delete(member));
    this.#running.set(member, run);
    return run;
  }

  async #dispatch(member: string): Promise<void> {
    const [org = '', spaceId = ''] = member.split(' ');
    let more = 1;
    while ((more === 1 || this.#again.has(member)) && !this.#stopped) {
      this.#again.delete(member);
      this.#dueAt.delete(member);
      const args = { spaceId, requestId: '', most: entriesAtOnce };
      const found = await this.#scripts.ask(dispatch, org, args);
      more = found.more;
      if (more === -1) await this.#store.srem(index, member);
      const due = found.attempts.map((attempt) => ({ org, spaceId, ...attempt }));
      if (due.length > 0) await this.#hand(due);
      this.#dueAt.set(member, performance.now() + Math.min(found.nextInMs ?? lookAgainMs, lookAgainMs));
    }
  }

  /** The spaces that have destinations; while the index's shard is away, as the organizations themselves tell it. */
  async #members(): Promise<ReadonlySet<string>> {
    if (performance.now() - this.#repaired > repairEveryMs) {
      this.#repaired = performance.now();
      // The index lies outside the organizations' hash slots: a crash may have kept something from it.
      const found = [...(await this.#told())];
      for (let i = 0; i < found.length; i += spacesAtOnce)
        await this.#store.sadd(index, ...found.slice(i, i + spacesAtOnce)).catch(() => undefined);
    }
    const members = orUnavailable(membersOf(this.#store, index));
    return unlessAway(this.#store, indexMs, members, () => this.#told());
  }

  async #told(): Promise<ReadonlySet<string>> {
    const members = new Set<string>();
    const ask = async (org: string): Promise<void> => {
      const spaces = keyName(webhookKeys.outboxSpaces, { org });
      for (const spaceId of await membersOf(this.#store, spaces)) members.add(`${org} ${spaceId}`);
    };
    await this.#organizations.forEach(await this.#organizations.all(), ask, patienceMs).catch(this.#complain);
    return members;
  }

  /** Dispatches nothing more; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    for (const listening of this.#spaces.values()) listening.stop();
    this.#spaces.clear();
    await Promise.allSettled(this.#running.values());
  }
}
