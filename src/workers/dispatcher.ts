import type { Logger } from 'pino';
import { number, text } from '../declare/field.ts';
import { many } from '../declare/record.ts';
import type { Store } from '../redis/connection.ts';
import { unlessAway } from '../redis/failures.ts';
import { keyName } from '../redis/keys.ts';
import { membersOf, Organizations } from '../redis/organizations.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Listening, Wake } from '../redis/wake.ts';
import { channelOf, spaceKeys } from '../space/keys.ts';
import { webhookKeys } from '../webhook/keys.ts';
import { DueAttempt } from '../webhook/records.ts';
import { nowAndThen } from './throttled-log.ts';

/** Moments of the spaces are compared with the clock this often. */
const tickMs = 1_000;
/** What nobody told of (a retry that another process armed, a clock set forward) is noticed after this long. */
const lookAgainMs = 5_000;
/** A space that nobody told of is noticed after this long. */
const readMs = 10_000;
/** Where nothing is unfinished only a message of the journal can have been lost: its length is looked at this often. */
const restMs = 30_000;
/** Journal entries that one script reads for a destination, of which a space may have 20. */
const entriesAtOnce = 100;
/** Spaces that one command names. */
const spacesAtOnce = 1_000;
/** Looking waits no longer for spaces on a shard that does not answer. */
const patienceMs = 1_000;
/** While the index is silent for this long, the spaces that it named before are looked at. */
const indexMs = 500;

const index = webhookKeys.outbox.pattern;

/** Due at no moment. */
const atRest = Number.POSITIVE_INFINITY;

/** `more`: -1 where the space has no destinations. */
const dispatch = {
  script: 'webhook/dispatch',
  reply: { more: number(-1), attempts: many(DueAttempt), nextInMs: number().orNull(), spaceNumber: text().orNull() },
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
 * Finds attempts that are due: in every space that has destinations, when its journal grows, when an attempt is due there,
 * and now and then. All it knows stands in the store; several of it may run at once.
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
  /** When a space is to be looked at again: when something is due there by the clock, or after a while; or at rest. */
  readonly #dueAt = new Map<string, number>();
  /** The journals of those at rest, and how long they were. */
  readonly #journals = new Map<string, string>();
  readonly #lengths = new Map<string, unknown>();
  #listening: Listening | undefined;
  /** When the index is to be read again. */
  #readAt = 0;
  #restedAt = 0;
  #stopped = false;
  #timer: NodeJS.Timeout | undefined;

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
    this.#listening = this.#wake.listen(index, (member) => {
      if (member === '') this.#readAt = 0;
      else void this.#look(member).catch(() => undefined);
    });
    void this.#tick();
  }

  async #tick(): Promise<void> {
    try {
      if (this.#readAt <= performance.now()) {
        await this.#read();
        this.#readAt = performance.now() + readMs;
      }
      const now = performance.now();
      const due = [...this.#dueAt].flatMap(([member, at]) => (at <= now ? [member] : []));
      await this.#organizations.forEach(due, (member) => this.#look(member), patienceMs);
      if (this.#restedAt + restMs <= now) {
        await this.#lookAtRest();
        this.#restedAt = now;
      }
    } catch (error) {
      // The store will be back; nothing is lost meanwhile.
      if (!this.#stopped) this.#complain(error as Error);
    }
    if (!this.#stopped) this.#timer = setTimeout(() => this.#tick(), tickMs);
  }

  /** Learns which spaces have destinations; while the index's shard is away, from the organizations themselves. */
  async #read(): Promise<void> {
    const members = await unlessAway(this.#store, indexMs, membersOf(this.#store, index), () => this.#told());
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

  async #lookAtRest(): Promise<void> {
    await this.#organizations.readEach(
      [...this.#dueAt].flatMap(([member, at]) => (at === atRest ? [member] : [])),
      (pipeline, member) => pipeline.xlen(this.#journals.get(member) ?? ''),
      async (member, length) => {
        if (length === this.#lengths.get(member)) return;
        this.#lengths.set(member, length);
        await this.#look(member);
      },
      patienceMs,
    );
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
      // Where it fails, the next tick looks again.
      this.#dueAt.set(member, 0);
      const args = { spaceId, requestId: '', most: entriesAtOnce };
      const found = await this.#scripts.ask(dispatch, org, args);
      more = found.more;
      if (more === -1) await this.#store.srem(index, member);
      const due = found.attempts.map((attempt) => ({ org, spaceId, ...attempt }));
      if (due.length > 0) await this.#hand(due);
      const inMs = found.nextInMs === null ? atRest : Math.min(found.nextInMs, lookAgainMs);
      this.#dueAt.set(member, performance.now() + inMs);
      const { spaceNumber } = found;
      if (spaceNumber !== null) this.#journals.set(member, keyName(spaceKeys.events, { org, spaceNumber }));
    }
  }

  /** The index lies outside the organizations' hash slots: enters what a crash kept from it. */
  async repair(): Promise<void> {
    const known = await membersOf(this.#store, index);
    const missing = [...(await this.#told())].filter((member) => !known.has(member));
    for (let i = 0; i < missing.length; i += spacesAtOnce)
      await this.#store.sadd(index, ...missing.slice(i, i + spacesAtOnce));
  }

  async #told(): Promise<ReadonlySet<string>> {
    const members = new Set<string>();
    const spacesOf = (org: string): string => keyName(webhookKeys.outboxSpaces, { org });
    await this.#organizations
      .readEach(
        await this.#organizations.all(),
        (pipeline, org) => pipeline.sscan(spacesOf(org), '0', 'COUNT', spacesAtOnce),
        async (org, reply) => {
          const [cursor, page] = reply as [string, string[]];
          const spaces = cursor === '0' ? page : await membersOf(this.#store, spacesOf(org));
          for (const spaceId of spaces) members.add(`${org} ${spaceId}`);
        },
        patienceMs,
      )
      .catch(this.#complain);
    return members;
  }

  /** Dispatches nothing more; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#listening?.stop();
    for (const listening of this.#spaces.values()) listening.stop();
    this.#spaces.clear();
    await Promise.allSettled(this.#running.values());
  }
}
