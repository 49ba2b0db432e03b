/** Work by key, never twice at a time for one key. */
export class SharedRuns<T> {
  readonly #running = new Map<string, Promise<T>>();

  has(key: string): boolean {
    return this.#running.has(key);
  }

  /** The runs in progress. */
  values(): Iterable<Promise<T>> {
    return this.#running.values();
  }

  /** Calls during a run share the next one, as the run in progress may have looked before them. */
  async run(key: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(key);
    if (running) await running.catch(() => undefined);
    return this.#running.get(key) ?? this.#start(key, work);
  }

  #start(key: string, work: () => Promise<T>): Promise<T> {
    const run = work().finally(() => this.#running.delete(key));
    this.#running.set(key, run);
    return run;
  }
}
