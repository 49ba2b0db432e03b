/** Listeners by the name of what they listen to. */
export class Emitter<Events extends object> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();

  /** Returns a function that ends it. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Whether anybody listened. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): boolean {
    const listeners = [...(this.#listeners.get(name) ?? [])] as ((event: Events[Name]) => void)[];
    for (const listener of listeners) listener(event);
    return listeners.length > 0;
  }
}
