import { type Api, Failure } from './api.ts';
import type { EventsPage, Happening } from './records.ts';
import { SseReader } from './sse.ts';

/** Shows the latest events first: those of the longest of these spans that fit into one page. */
const firstPage = 200;
const recentMs = [24 * 3_600_000, 3_600_000, 10 * 60_000, 60_000];
/** The server sends something every 15 s; a connection that stays silent this long is dead. */
const silenceMs = 40_000;
const firstPauseMs = 2_000;
const longestPauseMs = 30_000;
/** After a longer pause, continue from now instead of catching up. */
const maxGapMs = 60_000;

interface JournalListener {
  happened(events: readonly Happening[]): void;
  /** Events between the last one shown and now are skipped. */
  skipped(): void;
  connected(): void;
  /** Returns whether to try again. */
  failed(failure: Failure): boolean;
}

/** Follows a space's journal, reconnecting when a connection is lost. */
export class Journal {
  readonly #api: Api;
  readonly #listener: JournalListener;
  readonly #now: () => number;
  #cursor: string | undefined;
  #leftAt = 0;

  /** @param now the server's time */
  constructor(api: Api, now: () => number, listener: JournalListener) {
    this.#api = api;
    this.#now = now;
    this.#listener = listener;
  }

  /** Ends when `signal` aborts or the listener gives up. */
  async follow(signal: AbortSignal): Promise<void> {
    if (this.#cursor !== undefined && performance.now() - this.#leftAt > maxGapMs) this.#cursor = 'latest';
    let pauseMs = firstPauseMs;
    while (!signal.aborted) {
      let retryAfterMs = 0;
      try {
        if (this.#cursor === undefined) await this.#begin(signal);
        await this.#stream(signal, () => {
          pauseMs = firstPauseMs;
        });
      } catch (error) {
        if (signal.aborted) break;
        // The silence timeout aborts with a DOMException; anything else is a bug.
        if (!(error instanceof Failure || error instanceof DOMException)) throw error;
        const failure = error instanceof Failure ? error : lost();
        if (failure.code === 'CURSOR_EXPIRED') this.#cursor = 'latest';
        else if (!this.#listener.failed(failure)) return;
        retryAfterMs = failure.retryAfterMs;
      }
      if (!signal.aborted) await pause(Math.max(pauseMs, retryAfterMs), signal);
      pauseMs = Math.min(pauseMs * 2, longestPauseMs);
    }
    this.#leftAt = performance.now();
  }

  async #begin(signal: AbortSignal): Promise<void> {
    for (const ms of recentMs) {
      const since = new Date(this.#now() - ms).toISOString();
      const page = await this.#api.get<EventsPage>(`/events?limit=${firstPage}&since=${since}`, signal);
      if (page.events.length === firstPage) continue;
      this.#cursor = page.nextCursor;
      this.#listener.happened(page.events);
      return;
    }
    this.#cursor = 'latest';
  }

  async #stream(signal: AbortSignal, alive: () => void): Promise<void> {
    const silence = new AbortController();
    const both = AbortSignal.any([signal, silence.signal]);
    let timer = setTimeout(() => silence.abort(), silenceMs);
    try {
      const path = `/watch?cursor=${this.#cursor}&limit=500`;
      const { body } = await this.#api.open(path, 'text/event-stream', both);
      this.#listener.connected();
      if (this.#cursor === 'latest') this.#listener.skipped();
      const pieces = body?.pipeThrough(new TextDecoderStream()).getReader();
      const reader = new SseReader();
      for (;;) {
        const piece = await pieces?.read().catch(() => {
          throw lost();
        });
        if (!piece || piece.done) return;
        alive();
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMs);
        this.#take(reader.push(piece.value));
      }
    } finally {
      clearTimeout(timer);
    }
  }

  #take(messages: ReturnType<SseReader['push']>): void {
    this.#cursor = messages.findLast(({ id }) => id !== undefined)?.id ?? this.#cursor;
    const events = messages.filter(({ data }) => data !== '').map(({ data }) => JSON.parse(data) as Happening);
    if (events.length > 0) this.#listener.happened(events);
  }
}

function lost(): Failure {
  return new Failure(0, 'UNREACHABLE', 'the connection was lost');
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
