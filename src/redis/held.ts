/** A held request, as long as it waits. */
export interface Held {
  readonly place: string;
  /** Grows from one to the next. */
  readonly number: number;
  wake: () => void;
  /** The token that woke it and that it has not yet looked for. */
  token: string | undefined;
}

/** Held requests by their places: what a token costs does not grow with how many others are held. */
export class Places {
  readonly #places = new Map<string, Set<Held>>();

  get size(): number {
    let size = 0;
    for (const there of this.#places.values()) size += there.size;
    return size;
  }

  get isEmpty(): boolean {
    return this.#places.size === 0;
  }

  add(held: Held): void {
    const there = this.#places.get(held.place);
    if (there) there.add(held);
    else this.#places.set(held.place, new Set([held]));
  }

  remove(held: Held): void {
    const there = this.#places.get(held.place);
    there?.delete(held);
    if (there?.size === 0) this.#places.delete(held.place);
  }

  /** Who has waited longest for what a token says, of those that look after no other. */
  longest(token: string): Held | undefined {
    const [mailboxId, ...path] = token.split('/');
    let longest: Held | undefined;
    for (const scopeId of path) {
      for (const held of this.#places.get(`${mailboxId}/${scopeId}`) ?? []) {
        if (held.token !== undefined) continue;
        if (!longest || held.number < longest.number) longest = held;
        break;
      }
    }
    return longest;
  }

  wakeAll(): void {
    for (const there of this.#places.values()) for (const held of there) held.wake();
  }
}
