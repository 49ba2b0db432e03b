/** A held request, as long as it waits. */
export interface Held {
  readonly topic: string;
  /** Grows from one to the next. */
  readonly number: number;
  wake: () => void;
  /** The token that woke it and that it has not yet looked for. */
  token: string | undefined;
}

/** Held requests by their topics: what a token costs does not grow with how many others are held. */
export class Topics {
  readonly #topics = new Map<string, Set<Held>>();

  get size(): number {
    let size = 0;
    for (const there of this.#topics.values()) size += there.size;
    return size;
  }

  /** How many wait for a topic as a whole. */
  get whole(): number {
    let whole = 0;
    for (const [topic, there] of this.#topics) if (!topic.includes('/')) whole += there.size;
    return whole;
  }

  get isEmpty(): boolean {
    return this.#topics.size === 0;
  }

  add(held: Held): void {
    const there = this.#topics.get(held.topic);
    if (there) there.add(held);
    else this.#topics.set(held.topic, new Set([held]));
  }

  remove(held: Held): void {
    const there = this.#topics.get(held.topic);
    there?.delete(held);
    if (there?.size === 0) this.#topics.delete(held.topic);
  }

  /** Who has waited longest for what a token says, of those that look after no other. */
  longest(token: string): Held | undefined {
    const [object, ...parts] = token.split('/');
    let longest: Held | undefined;
    for (const part of parts) {
      for (const held of this.#topics.get(`${object}/${part}`) ?? []) {
        if (held.token !== undefined) continue;
        if (!longest || held.number < longest.number) longest = held;
        break;
      }
    }
    return longest;
  }

  /** Wakes all that wait for a topic as a whole. */
  wake(topic: string): void {
    for (const held of this.#topics.get(topic) ?? []) held.wake();
  }

  wakeAll(): void {
    for (const there of this.#topics.values()) for (const held of there) held.wake();
  }
}
