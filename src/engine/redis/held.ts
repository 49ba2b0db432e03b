/** The worker whose receive is held. */
export interface Receiver {
  readonly holder?: string | undefined;
  readonly holderSession: string;
}

export interface HeldRequest {
  readonly topic: string;
  /** Undefined for a read. */
  readonly receiver: Receiver | undefined;
  /** Epoch milliseconds. */
  readonly since: number;
  /** Increases with every request held. */
  readonly number: number;
  wake: () => void;
  /** For a receive: its worker no longer wants it. */
  isLeft: boolean;
  /** The token that woke it, until it looks for what the token announced; again after a look that is to be repeated. */
  token: string | undefined;
}

/** A held receive, as other processes see it. */
export interface HeldReceive extends Receiver {
  readonly topic: string;
  readonly since: number;
}

export interface HeldReceives {
  readonly receives: readonly HeldReceive[];
  /** There are more. */
  readonly isCut: boolean;
}

/** Held requests by topic. The cost of a token does not depend on how many requests are held. */
export class Topics {
  readonly #topics = new Map<string, Set<HeldRequest>>();

  get size(): number {
    let size = 0;
    for (const held of this.#topics.values()) size += held.size;
    return size;
  }

  /** The number of requests waiting for a whole topic. */
  get whole(): number {
    let whole = 0;
    for (const [topic, held] of this.#topics) if (!topic.includes('/')) whole += held.size;
    return whole;
  }

  get isEmpty(): boolean {
    return this.#topics.size === 0;
  }

  /** At most this many of the held receives, those that have waited longest. object: `object/`, only of its parts. */
  receives(limit: number, object: string): HeldReceives {
    const all: HeldReceive[] = [];
    for (const [topic, held] of this.#topics)
      if (topic.startsWith(object))
        for (const { receiver, since } of held) if (receiver) all.push({ topic, ...receiver, since });
    all.sort((one, other) => one.since - other.since);
    return { receives: all.slice(0, limit), isCut: all.length > limit };
  }

  add(held: HeldRequest): void {
    const others = this.#topics.get(held.topic);
    if (others) others.add(held);
    else this.#topics.set(held.topic, new Set([held]));
  }

  remove(held: HeldRequest): void {
    const all = this.#topics.get(held.topic);
    all?.delete(held);
    if (all?.size === 0) this.#topics.delete(held.topic);
  }

  /** The request that has waited longest for this token, except those busy with another one. */
  longest(token: string): HeldRequest | undefined {
    const [object, ...parts] = token.split('/');
    let longest: HeldRequest | undefined;
    for (const part of [...parts, '*']) {
      for (const held of this.#topics.get(`${object}/${part}`) ?? []) {
        if (held.token !== undefined) continue;
        if (!longest || held.number < longest.number) longest = held;
        break;
      }
    }
    return longest;
  }

  /** Wakes all requests waiting for a whole topic. */
  wake(topic: string): void {
    for (const held of this.#topics.get(topic) ?? []) held.wake();
  }

  /**
   * Wakes all requests waiting for a part of an object, `object/`, which is gone. As that is rare, there is no index: it
   * looks at every topic.
   */
  wakeParts(object: string): void {
    for (const [topic, all] of this.#topics) if (topic.startsWith(object)) for (const held of all) held.wake();
  }

  /** Ends the receives that a worker holds on an object, `object/`. As for `wakeParts`, there is no index. */
  leave(object: string, holderSession: string): void {
    for (const [topic, all] of this.#topics)
      if (topic.startsWith(object))
        for (const held of all)
          if (held.receiver?.holderSession === holderSession) {
            held.isLeft = true;
            held.wake();
          }
  }

  wakeAll(): void {
    for (const all of this.#topics.values()) for (const held of all) held.wake();
  }
}
