import { type Api, Failure } from './api.ts';
import type { Panel } from './panels/panel.ts';
import type { Happening } from './records.ts';

const pollMs = 500;

interface PollerListener {
  answered(panel: Panel, answer: unknown): void;
  failed(panel: Panel, failure: Failure): void;
}

/** Refreshes panels when the journal shows that they are stale, and periodically. */
export class Poller {
  readonly #api: Api;
  readonly #listener: PollerListener;
  #panels: readonly Panel[] = [];
  // WeakMaps because every view of a run is a new panel.
  readonly #readAt = new WeakMap<Panel, number>();
  readonly #stale = new WeakSet<Panel>();
  /** The reads in progress; each controller ends one. */
  readonly #reading = new Map<Panel, AbortController>();
  /** Ends the pause before the next check. */
  #wake = (): void => undefined;

  constructor(api: Api, listener: PollerListener) {
    this.#api = api;
    this.#listener = listener;
  }

  /** Selects the panels to read, and ends the reads of others: their answers would change a page that is not theirs. */
  show(panels: readonly Panel[]): void {
    this.#panels = panels;
    for (const [panel, reading] of this.#reading) if (!panels.includes(panel)) reading.abort();
    this.#wake();
  }

  /** Events may have been missed: everything is stale. */
  invalidate(): void {
    for (const panel of this.#panels) this.#stale.add(panel);
  }

  /** Has a panel read again at once, whatever its interval. */
  markStale(panel: Panel): void {
    this.#stale.add(panel);
    this.#readAt.delete(panel);
    this.#wake();
  }

  hear(events: readonly Happening[]): void {
    const aggregates = new Set<string>(events.map(({ aggregate }) => aggregate));
    for (const panel of this.#panels) if (panel.hears.some((name) => aggregates.has(name))) this.#stale.add(panel);
  }

  /** Ends when `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const due = this.#panels.filter((panel) => this.#api.allows(panel.path) && this.#isDue(panel));
      // A slow read must not hold up the others.
      for (const panel of due) void this.#read(panel, signal);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, pollMs);
      });
    }
  }

  #isDue(panel: Panel): boolean {
    if (this.#reading.has(panel)) return false;
    const readAt = this.#readAt.get(panel);
    if (readAt === undefined) return true;
    const seconds = this.#stale.has(panel) ? panel.everySeconds : panel.idleSeconds;
    return performance.now() - readAt >= seconds * 1000 * this.#api.slowness;
  }

  async #read(panel: Panel, running: AbortSignal): Promise<void> {
    const reading = new AbortController();
    const signal = AbortSignal.any([running, reading.signal]);
    this.#reading.set(panel, reading);
    this.#readAt.set(panel, performance.now());
    this.#stale.delete(panel);
    try {
      const answer = await (panel.read ? panel.read(this.#api, signal) : this.#api.get(panel.path, signal));
      signal.throwIfAborted();
      this.#listener.answered(panel, answer);
    } catch (error) {
      if (signal.aborted) return this.markStale(panel);
      if (!(error instanceof Failure)) throw error;
      // It was not read, so it is still stale.
      if (error.isTransient) this.#stale.add(panel);
      this.#listener.failed(panel, error);
    } finally {
      this.#reading.delete(panel);
    }
  }
}
