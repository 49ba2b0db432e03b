/** Listeners by event name. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();

  /** Adds a listener. Returns a function that removes it. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Returns whether there was a listener. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): boolean {
    const listeners = [...(this.#listeners.get(name) ?? [])] as ((event: Events[Name]) => void)[];
    for (const listener of listeners) listener(event);
    return listeners.length > 0;
  }
}
