import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from './connection.ts';
import { type Held, Topics } from './held.ts';

/** A shard of a cluster that is away is asked again after this long. */
const subscribeAgainMs = 500;

interface Channel {
  readonly held: Topics;
  readonly listeners: Set<(message: string) => void>;
  readonly subscribed: Promise<unknown>;
}

/** What `listen` gives: from `ready` on nothing is missed. */
export interface Listening {
  readonly ready: Promise<unknown>;
  stop(): void;
}

export interface Hold {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /**
   * `object/part`, or a record's id. A token of a published message, `object/part/…/part`, is for those that wait for any
   * of these parts of the object; each wakes one. A token that is an id wakes all that wait for that.
   */
  readonly topic: string;
}

/**
 * What this process hears of its spaces' journals. One subscription connection for all of it, one channel per space
 * that anybody waits for. A held request costs memory only; a message wakes those that wait for one of its tokens. A
 * listener hears of every message.
 */
export class Wake {
  readonly #subscriber: Store;
  readonly #channels = new Map<string, Channel>();
  readonly #closing = new AbortController();
  #holds = 0;

  constructor(subscriber: Store) {
    this.#subscriber = subscriber;
    subscriber.on('smessage', (channel: string, message: string) => this.#wake(channel, message));
    // What was published while the connection was away is lost: let everybody look for themselves.
    subscriber.on('ready', () => this.#wakeAll());
    // The same of a cluster: one of its connections is there again, or a slot has moved.
    subscriber.on('subscribersReady', () => this.#wakeAll());
  }

  /** How many requests are held now. */
  get size(): number {
    let size = 0;
    for (const { held } of this.#channels.values()) size += held.size;
    return size;
  }

  /** How many of them are reads: they wait for a topic as a whole. */
  get reads(): number {
    return [...this.#channels.values()].reduce((reads, { held }) => reads + held.whole, 0);
  }

  /**
   * Runs `look` until it finds something, the time is over or the caller has gone: at once, after each wake-up, and
   * after the milliseconds that `look` itself asked for. Resolves with what was found, or undefined.
   */
  async until<T>(
    channel: string,
    hold: Hold,
    look: (again: (inMs: number) => void) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    // Not a moment to compare with: a timer may fire a little early by another clock.
    let timeIsOver = false;
    const held: Held = { topic: hold.topic, number: this.#holds++, token: undefined, wake: () => undefined };
    const wake = () => held.wake();
    const end = (): void => {
      timeIsOver = true;
      held.wake();
    };
    const timers = [setTimeout(end, hold.waitMs)];
    const over = () => this.closing.aborted || hold.signal.aborted || timeIsOver;
    hold.signal.addEventListener('abort', wake);
    try {
      let woken = nextWake(held);
      // Held before it looks: what becomes ready in between wakes it.
      await Promise.race([this.#add(channel, held), woken]);
      while (!over()) {
        woken = nextWake(held);
        const { token } = held;
        held.token = undefined;
        const again = (inMs: number): void => {
          // What it looked for is still there: whoever comes after it is to look, when it gives up.
          held.token ??= token;
          timers.push(setTimeout(wake, inMs));
        };
        const found = await look(again).catch((error) => {
          held.token ??= token;
          throw error;
        });
        if (found !== undefined) return found;
        await woken;
      }
      return undefined;
    } finally {
      for (const timer of timers) clearTimeout(timer);
      hold.signal.removeEventListener('abort', wake);
      this.#remove(channel, held);
      // It goes with a wake-up that it has not looked after: the next one gets it.
      if (held.token !== undefined) this.#wake(channel, held.token);
    }
  }

  /** Calls `heard` with every message of a channel, and with '' whenever one may have been missed. */
  listen(name: string, heard: (message: string) => void): Listening {
    const channel = this.#open(name);
    channel.listeners.add(heard);
    const stop = (): void => {
      channel.listeners.delete(heard);
      this.#leave(name);
    };
    return { ready: channel.subscribed, stop };
  }

  /** Aborts at shutdown. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Lets every held request go: shutdown. */
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
        await sleep(subscribeAgainMs, undefined, { ref: false });
      }
      if (!this.#channels.has(name)) return;
    }
  }

  async #add(name: string, held: Held): Promise<void> {
    const channel = this.#open(name);
    channel.held.add(held);
    await channel.subscribed;
  }

  #remove(name: string, held: Held): void {
    this.#channels.get(name)?.held.remove(held);
    this.#leave(name);
  }

  #leave(name: string): void {
    const channel = this.#channels.get(name);
    if (!channel?.held.isEmpty || channel.listeners.size > 0) return;
    this.#channels.delete(name);
    // A failure means that the connection is gone, and its subscriptions with it.
    this.#subscriber.sunsubscribe(name).catch(() => undefined);
  }

  #wake(name: string, message: string): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    for (const heard of channel.listeners) heard(message);
    for (const token of message.split(',')) {
      if (!token.includes('/')) channel.held.wake(token);
      const held = channel.held.longest(token);
      if (!held) continue;
      held.token = token;
      held.wake();
    }
  }

  #wakeAll(): void {
    for (const { held, listeners } of this.#channels.values()) {
      for (const heard of listeners) heard('');
      held.wakeAll();
    }
  }
}

/** Resolves when it is woken next. */
function nextWake(held: Held): Promise<void> {
  return new Promise((resolve) => {
    held.wake = resolve;
  });
}
