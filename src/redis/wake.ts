import type { Store } from './connection.ts';

interface Held {
  readonly matches: (token: string) => boolean;
  readonly wake: () => void;
  woken: boolean;
}

interface Channel {
  /** In the order the holds began. */
  readonly held: Set<Held>;
  readonly subscribed: Promise<unknown>;
}

export interface Hold {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Whether a token of a published message is meant for this request; each token wakes one. */
  readonly matches: (token: string) => boolean;
}

/**
 * Held requests of this process. One subscription connection for all of them, one channel per space that has any; a
 * held request costs memory only, and the one that has waited longest is woken first.
 */
export class Wake {
  readonly #subscriber: Store;
  readonly #channels = new Map<string, Channel>();
  #closed = false;

  constructor(subscriber: Store) {
    this.#subscriber = subscriber;
    subscriber.on('smessage', (channel: string, message: string) => this.#wake(channel, message));
    // What was published while the connection was away is lost: let everybody look for themselves.
    subscriber.on('ready', () => this.#wakeAll());
  }

  /** How many requests are held now. */
  get size(): number {
    let size = 0;
    for (const { held } of this.#channels.values()) size += held.size;
    return size;
  }

  /**
   * Runs `look` until it finds something, the time is over or the caller has gone: at once, and after each wake-up.
   * Resolves with what was found, or undefined.
   */
  async until<T>(channel: string, hold: Hold, look: () => Promise<T | undefined>): Promise<T | undefined> {
    const end = performance.now() + hold.waitMs;
    while (!this.#closed && !hold.signal.aborted) {
      const found = await this.#once(channel, hold, end - performance.now(), look);
      if (found !== undefined || performance.now() >= end) return found;
    }
    return undefined;
  }

  async #once<T>(
    channel: string,
    hold: Hold,
    waitMs: number,
    look: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    let wake: () => void = () => undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    const held: Held = { matches: hold.matches, wake, woken: false };
    const timer = setTimeout(wake, Math.max(0, waitMs));
    hold.signal.addEventListener('abort', wake);
    try {
      // Held before it looks: what becomes ready in between wakes it.
      await this.#add(channel, held);
      const found = await look();
      if (found === undefined) await woken;
      return found;
    } finally {
      clearTimeout(timer);
      hold.signal.removeEventListener('abort', wake);
      this.#remove(channel, held);
    }
  }

  /** Lets every held request go: shutdown. */
  close(): void {
    this.#closed = true;
    this.#wakeAll();
  }

  async #add(name: string, held: Held): Promise<void> {
    let channel = this.#channels.get(name);
    if (!channel) {
      channel = { held: new Set(), subscribed: this.#subscriber.ssubscribe(name) };
      this.#channels.set(name, channel);
    }
    channel.held.add(held);
    await channel.subscribed;
  }

  #remove(name: string, held: Held): void {
    const channel = this.#channels.get(name);
    channel?.held.delete(held);
    if (!channel || channel.held.size > 0) return;
    this.#channels.delete(name);
    // A failure means that the connection is gone, and its subscriptions with it.
    this.#subscriber.sunsubscribe(name).catch(() => undefined);
  }

  #wake(name: string, message: string): void {
    const channel = this.#channels.get(name);
    if (!channel) return;
    for (const token of message.split(',')) {
      for (const held of channel.held) {
        if (held.woken || !held.matches(token)) continue;
        held.woken = true;
        held.wake();
        break;
      }
    }
  }

  #wakeAll(): void {
    for (const { held } of this.#channels.values()) for (const one of held) one.wake();
  }
}
