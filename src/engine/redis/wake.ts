import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from './connection.ts';
import { type HeldReceives, type HeldRequest, type Receiver, Topics } from './held.ts';

/** Delay before subscribing again when a shard is down. */
const resubscribeMs = 500;
/** How long the other processes have to list their held receives. */
const askMs = 500;
/** The most held receives that one process lists. */
const maxListed = 1_000;

interface Channel {
  readonly held: Topics;
  readonly listeners: Set<(message: string) => void>;
  readonly subscribed: Promise<unknown>;
}

/** A listener's subscription. Nothing is missed after `ready`. */
export interface Listening {
  readonly ready: Promise<unknown>;
  stop(): void;
}

export interface HoldOptions {
  readonly waitSeconds: number;
  /**
   * `object/part`, or a record's id. A published token `object/part/…/part` wakes one request that waits for any of these
   * parts; `object/` wakes all that wait for any part of the object; an id wakes all that wait for it.
   */
  readonly topic: string;
  /** For a receive. */
  readonly receiver?: Receiver | undefined;
}

/**
 * Notifications from the spaces' journals over one subscription connection, with a channel per space that has held requests
 * or listeners. A held request costs memory only. A message wakes the requests that wait for one of its tokens; a listener
 * receives every message.
 */
export class Wake {
  readonly #subscriber: Store;
  readonly #publisher: Store;
  readonly #channels = new Map<string, Channel>();
  readonly #closing = new AbortController();
  #holds = 0;

  constructor(subscriber: Store, publisher: Store) {
    this.#subscriber = subscriber;
    this.#publisher = publisher;
    subscriber.on('smessage', (channel: string, message: string) => this.#wake(channel, message));
    // Messages published while disconnected are lost, so everyone looks again.
    subscriber.on('ready', () => this.#wakeAll());
    // In a cluster, a connection is back or a slot has moved.
    subscriber.on('subscribersReady', () => this.#wakeAll());
  }

  get size(): number {
    let size = 0;
    for (const { held } of this.#channels.values()) size += held.size;
    return size;
  }

  /** The number of held reads, which wait for a whole topic. */
  get reads(): number {
    return [...this.#channels.values()].reduce((reads, { held }) => reads + held.whole, 0);
  }

  /** Holds a request. `next` resolves once it is registered, and then after each wake-up. */
  hold(name: string, options: HoldOptions, gone: AbortSignal): Held {
    return new Held(options, gone, this.#holds++, {
      closing: this.closing,
      add: (request) => this.#add(name, request),
      remove: (request) => this.#remove(name, request),
      passOn: (token) => this.#wake(name, token),
    });
  }

  /** Calls `onMessage` with every message of a channel, and with '' whenever one may have been missed. */
  listen(name: string, onMessage: (message: string) => void): Listening {
    const channel = this.#open(name);
    channel.listeners.add(onMessage);
    const stop = (): void => {
      channel.listeners.delete(onMessage);
      this.#leave(name);
    };
    return { ready: channel.subscribed, stop };
  }

  /**
   * The receives that all processes hold on a channel, or those that wait for a part of an object, `object/`. A process that
   * holds one is subscribed to the channel, so a question published there reaches it. It answers on a channel made for this
   * question. isCut: also if one did not answer in time.
   */
  async receives(name: string, object = ''): Promise<HeldReceives> {
    const timeout = sleep(askMs, undefined, { ref: false });
    const answers = `${name}?${randomUUID()}`;
    const listed: HeldReceives[] = [];
    let asked = Number.POSITIVE_INFINITY;
    let answered: () => void = () => undefined;
    const all = new Promise<void>((resolve) => {
      answered = () => listed.length >= asked && resolve();
    });
    const listening = this.listen(answers, (message) => {
      if (message !== '') listed.push(JSON.parse(message));
      answered();
    });
    try {
      await Promise.race([listening.ready, timeout]);
      asked = Number(await this.#publisher.spublish(name, `${answers.slice(name.length)} ${object}`));
      answered();
      await Promise.race([all, timeout]);
    } finally {
      listening.stop();
    }
    return {
      receives: listed.flatMap(({ receives }) => receives),
      isCut: listed.length < asked || listed.some(({ isCut }) => isCut),
    };
  }

  /**
   * Ends the receives that all processes hold for a worker on an object, `object/`. One that is about to be held is not
   * reached.
   */
  async leave(name: string, object: string, holderSession: string): Promise<void> {
    await this.#publisher.spublish(name, `!${JSON.stringify([object, holderSession])}`);
  }

  /** Aborts at shutdown. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  close(): void {
    this.#closing.abort();
    this.#wakeAll();
  }

  #open(name: string): Channel {
    let channel = this.#channels.get(name);
    if (!channel) {
      channel = { held: new Topics(), listeners: new Set(), subscribed: this.#subscribe(name) };
      this.#channels.set(name, channel);
    }
    return channel;
  }

  async #subscribe(name: string): Promise<void> {
    for (;;) {
      try {
        await this.#subscriber.ssubscribe(name);
        return;
      } catch {
        await sleep(resubscribeMs, undefined, { ref: false });
      }
      if (!this.#channels.has(name)) return;
    }
  }

  async #add(name: string, held: HeldRequest): Promise<void> {
    const channel = this.#open(name);
    channel.held.add(held);
    await channel.subscribed;
  }

  #remove(name: string, held: HeldRequest): void {
    this.#channels.get(name)?.held.remove(held);
    this.#leave(name);
  }

  #leave(name: string): void {
    const channel = this.#channels.get(name);
    if (!channel?.held.isEmpty || channel.listeners.size > 0) return;
    this.#channels.delete(name);
    // It fails only if the connection is gone, and its subscriptions with it.
    this.#subscriber.sunsubscribe(name).catch(() => undefined);
  }

  #list(name: string, { held }: Channel, question: string): void {
    const [answers = '', object = ''] = question.split(' ');
    const listed = held.receives(maxListed, object);
    this.#publisher.spublish(`${name}${answers}`, JSON.stringify(listed)).catch(() => undefined);
  }

  #wake(name: string, message: string): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    if (message.startsWith('?')) {
      this.#list(name, channel, message);
      return;
    }
    if (message.startsWith('!')) {
      const [object, holderSession] = JSON.parse(message.slice(1)) as [string, string];
      channel.held.leave(object, holderSession);
      return;
    }
    for (const onMessage of channel.listeners) onMessage(message);
    for (const token of message.split(',')) {
      if (token.endsWith('/')) {
        channel.held.wakeParts(token);
        continue;
      }
      if (!token.includes('/')) channel.held.wake(token);
      const held = channel.held.longest(token);
      if (!held) continue;
      held.token = token;
      held.wake();
    }
  }

  #wakeAll(): void {
    for (const { held, listeners } of this.#channels.values()) {
      for (const onMessage of listeners) onMessage('');
      held.wakeAll();
    }
  }
}

interface Holder {
  readonly closing: AbortSignal;
  add(request: HeldRequest): Promise<void>;
  remove(request: HeldRequest): void;
  passOn(token: string): void;
}

/** A held request. A token that wakes it is meant for it alone, so a token that it does not use is passed on. */
export class Held {
  readonly #request: HeldRequest;
  readonly #holder: Holder;
  readonly #gone: AbortSignal;
  readonly #timers: NodeJS.Timeout[];
  readonly #wake = (): void => this.#request.wake();
  #woken: Promise<void> | undefined;
  /** The token that woke it last. */
  #token: string | undefined;
  /** A flag rather than a deadline, as a timer may fire slightly early by another clock. */
  #isTimeOver = false;

  constructor({ waitSeconds, topic, receiver }: HoldOptions, gone: AbortSignal, number: number, holder: Holder) {
    const wake = (): void => undefined;
    this.#request = { topic, receiver, since: Date.now(), number, token: undefined, isLeft: false, wake };
    this.#holder = holder;
    this.#gone = gone;
    const end = (): void => {
      this.#isTimeOver = true;
      this.#wake();
    };
    this.#timers = [setTimeout(end, waitSeconds * 1000)];
    gone.addEventListener('abort', this.#wake);
  }

  /** Whether its receiver has left, which ends the hold. */
  get isLeft(): boolean {
    return this.#request.isLeft;
  }

  /** Resolves with true at the next wake-up, or with false when the time is up, or the caller or receiver has gone. */
  async next(): Promise<boolean> {
    // The first time, it is registered before it looks, so that it is woken by whatever becomes ready meanwhile.
    await (this.#woken ?? Promise.race([this.#holder.add(this.#request), this.#nextWake()]));
    if (this.#holder.closing.aborted || this.#gone.aborted || this.isLeft || this.#isTimeOver) return false;
    this.#woken = this.#nextWake();
    this.#token = this.#request.token;
    this.#request.token = undefined;
    return true;
  }

  #nextWake(): Promise<void> {
    return new Promise((resolve) => {
      this.#request.wake = resolve;
    });
  }

  /** Requests a wake-up after this many milliseconds. What woke it is still there, for others if this one gives up. */
  retryIn(ms: number): void {
    this.passOn();
    this.#timers.push(setTimeout(this.#wake, ms));
  }

  /** Leaves what woke it last to others, once it ends. */
  passOn(): void {
    this.#request.token ??= this.#token;
  }

  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#gone.removeEventListener('abort', this.#wake);
    this.#holder.remove(this.#request);
    if (this.#request.token !== undefined) this.#holder.passOn(this.#request.token);
  }
}
