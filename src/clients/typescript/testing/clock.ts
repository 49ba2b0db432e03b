/** A clock that stands still until it is moved. */
export class TestClock {
  #ms: number;
  readonly #listeners = new Set<() => void>();

  constructor(start: Date | string | number = '2026-01-01T00:00:00.000Z') {
    this.#ms = new Date(start).getTime();
    if (Number.isNaN(this.#ms)) throw new RangeError(`${JSON.stringify(start)} is not a valid time`);
  }

  get now(): Date {
    return new Date(this.#ms);
  }

  /** The time this many seconds from now, in the format of messages. */
  in(seconds: number): string {
    return new Date(this.#ms + seconds * 1000).toISOString();
  }

  /** Moves the clock forward. A claim ends if its deadline passes. */
  advance(seconds: number): void {
    if (!(seconds >= 0)) throw new RangeError(`a clock advances by 0 seconds or more, not ${seconds}`);
    this.#ms += seconds * 1000;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Calls a listener after each move, until the returned function is called. */
  onMove(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
