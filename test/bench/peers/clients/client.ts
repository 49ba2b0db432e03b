/** A message that was received and not yet completed. */
export interface Claimed {
  id: string;
  token: string;
  payload: unknown;
}

/** A peer's client as a process of agents would use it: everything in one process, its documented fast path. */
export interface Worker {
  /**
   * Sends the messages, `atOnce` in flight, while a worker of the same concurrency completes them; resolves after the
   * last.
   */
  through(messages: number, atOnce: number, body: unknown): Promise<void>;
}

/** A peer's client as a service would use it behind HTTP: one message per call, each call answered when it is done. */
export interface Service {
  send(body: unknown): Promise<string>;
  /** The next message; null when none is ready. */
  recv(): Promise<Claimed | null>;
  complete(id: string, token: string): Promise<void>;
}

export interface Client {
  worker?: (address: string, atOnce: number) => Promise<Worker>;
  service?: (address: string) => Promise<Service>;
}

/** Runs `action` this many times, `atOnce` concurrently. */
export async function lanes(times: number, atOnce: number, action: () => Promise<unknown>): Promise<void> {
  let left = times;
  const lane = async () => {
    while (left-- > 0) await action();
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** Counts completed messages, and resolves when a number of them is reached. */
export class Tally {
  #count = 0;
  #wanted = 0;
  #reached: () => void = () => undefined;

  done(): void {
    this.#count++;
    if (this.#count === this.#wanted) this.#reached();
  }

  /** Resolves when this many more are done. */
  next(more: number): Promise<void> {
    this.#wanted = this.#count + more;
    return new Promise((resolve) => {
      this.#reached = resolve;
    });
  }
}
