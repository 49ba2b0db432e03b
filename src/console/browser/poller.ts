import { type Api, Failure } from './api.ts';
import type { Panel } from './panels/panel.ts';
import type { Happening } from './records.ts';

const lookEveryMs = 500;

interface PollerListener {
  answered(panel: Panel, answer: unknown): void;
  failed(panel: Panel, failure: Failure): void;
}

/** Reads the panels' answers again when the journal says that they are old, and now and then besides. */
export class Poller {
  readonly #api: Api;
  readonly #to: PollerListener;
  #panels: readonly Panel[] = [];
  // Each look at a run is a panel of its own, which goes when it is left.
  readonly #readAt = new WeakMap<Panel, number>();
  readonly #old = new WeakSet<Panel>();

  constructor(api: Api, to: PollerListener) {
    this.#api = api;
    this.#to = to;
  }

  /** From now on these are read, first of all those that never were. */
  show(panels: readonly Panel[]): void {
    this.#panels = panels;
  }

  /** Nothing is known of what happened: everything is old. */
  forget(): void {
    for (const panel of this.#panels) this.#old.add(panel);
  }

  hear(events: readonly Happening[]): void {
    const aggregates = new Set<string>(events.map(({ aggregate }) => aggregate));
    for (const panel of this.#panels) if (panel.hears.some((name) => aggregates.has(name))) this.#old.add(panel);
  }

  /** Ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const due = this.#api.quietMs > 0 ? [] : this.#panels.filter((panel) => this.#isDue(panel));
      await Promise.all(due.map((panel) => this.#read(panel, signal)));
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
  }

  #isDue(panel: Panel): boolean {
    const readAt = this.#readAt.get(panel);
    if (readAt === undefined) return true;
    const seconds = this.#old.has(panel) ? panel.everySeconds : panel.idleSeconds;
    return performance.now() - readAt >= seconds * 1000 * this.#api.slowness;
  }

  async #read(panel: Panel, signal: AbortSignal): Promise<void> {
    this.#readAt.set(panel, performance.now());
    this.#old.delete(panel);
    try {
      this.#to.answered(panel, await this.#api.get(panel.path, signal));
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      // What was not read is still old.
      if (error.isPassing) this.#old.add(panel);
      this.#to.failed(panel, error);
    }
  }
}
