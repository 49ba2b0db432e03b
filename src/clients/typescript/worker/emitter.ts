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

  /** Returns whether there was a listener. One that throws is reported, and stops neither the others nor the caller. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): boolean {
    const listeners = [...(this.#listeners.get(name) ?? [])] as ((event: Events[Name]) => void)[];
    for (const listener of listeners)
      try {
        listener(event);
      } catch (error) {
        console.error(`a listener for ${String(name)} threw:`, error);
      }
    return listeners.length > 0;
  }
}
