import type { Metric } from 'prom-client';
import { histogram, type Sample, type Series, scraped } from './scraped.ts';

const requestBounds = [0.005, 0.025, 0.1, 0.25, 1, 5];
const scriptBounds = [0.001, 0.005, 0.01, 0.05, 0.25];
/** The most claims whose duration is measured, some 10 MB. */
const maxClaims = 50_000;
/** Work may take milliseconds or hours. */
const workBounds = [0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 900, 3_600];
const classes = ['2xx', '3xx', '4xx', '5xx'];
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** A timed event of a message: a receive has delivered it, some time after it was ready; or a call has ended its claim. */
export type Timed =
  | { readonly of: 'wait'; readonly token: string; readonly at: number; readonly seconds: number }
  | { readonly of: 'run'; readonly token: string; readonly outcome: string };

/** Counts and durations of this process's requests and scripts. Callers cannot invent label values. */
export class Traffic {
  readonly #requests = new Map<string, Map<string, Requests>>();
  readonly #scripts = new Map<string, Tally>();
  readonly #waits = new Tally(workBounds);
  /**
   * The start of recent claims that this process has delivered, by token. Reading it from the store would cost each
   * completion 3 % of its instructions.
   */
  readonly #claimedAt = new Map<string, number>();
  readonly #runs = new Map(
    ['acked', 'retried', 'rejected', 'failed'].map((outcome) => [outcome, new Tally(workBounds)]),
  );
  readonly #refusals: Map<string, number>;

  /** refusals: the codes that are counted from 0 on. The first refusal of a series that begins with 1 is no increase. */
  constructor(refusals: readonly string[] = []) {
    this.#refusals = new Map(refusals.map((code) => [code, 0]));
  }

  /** Counts an answered request. `route` is the pattern, never the path. */
  request(route: string, method: string, status: number, seconds: number): void {
    const { tally, statuses } = this.#requests.get(route)?.get(method) ?? this.#added(route, method);
    tally.observe(seconds);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }

  #added(route: string, given: string): Requests {
    const method = methods.has(given) ? given : 'OTHER';
    const byMethod = this.#requests.get(route) ?? new Map<string, Requests>();
    const requests = byMethod.get(method) ?? { tally: new Tally(requestBounds), statuses: new Map() };
    this.#requests.set(route, byMethod.set(method, requests));
    return requests;
  }

  /** Counts a script's round trip. */
  script(name: string, seconds: number): void {
    tallyOf(this.#scripts, name, scriptBounds).observe(seconds);
  }

  /** now: the store's time. */
  message(timed: Timed, now: number): void {
    if (timed.of === 'wait') {
      this.#waits.observe(timed.seconds);
      this.#claimedAt.set(timed.token, timed.at);
      const [oldest] = this.#claimedAt.size > maxClaims ? this.#claimedAt.keys() : [];
      if (oldest !== undefined) this.#claimedAt.delete(oldest);
      return;
    }
    const at = this.#claimedAt.get(timed.token);
    if (at === undefined) return;
    this.#claimedAt.delete(timed.token);
    tallyOf(this.#runs, timed.outcome, workBounds).observe((now - at) / 1000);
  }

  /** Counts a request answered with an error code. */
  refusal(code: string): void {
    this.#refusals.set(code, (this.#refusals.get(code) ?? 0) + 1);
  }

  metrics(): Metric[] {
    return [
      scraped(
        'counter',
        'muster_http_requests_total',
        'Answered requests, by route pattern and status; route="unmatched" for unknown paths',
        () =>
          this.#series().flatMap(({ labels, statuses }) =>
            [...statuses].map(([status, value]) => ({ labels: { ...labels, status: String(status) }, value })),
          ),
      ),
      scraped(
        'counter',
        'muster_http_responses_total',
        'Answered requests, by class of status: all classes begin at 0',
        () => this.#classes(),
      ),
      histogram(
        'muster_http_request_duration_seconds',
        'Time to the response, or to the start of a stream, by route pattern; a held receive or watch takes as long as its hold',
        requestBounds,
        () => this.#series(),
      ),
      scraped('counter', 'muster_refusals_total', 'Requests answered with an error, by code', () =>
        [...this.#refusals].map(([code, value]) => ({ labels: { code }, value })),
      ),
      histogram(
        'muster_script_duration_seconds',
        'Round trip of a script: network, queueing and execution',
        scriptBounds,
        () => [...this.#scripts].map(([script, tally]) => ({ labels: { script }, tally })),
      ),
      histogram(
        'muster_message_wait_seconds',
        'How long messages delivered by this process had been ready',
        workBounds,
        () => [{ labels: {}, tally: this.#waits }],
      ),
      histogram(
        'muster_message_run_seconds',
        'From the claim to the call that ended it, by outcome, if this process answered both',
        workBounds,
        () => [...this.#runs].map(([outcome, tally]) => ({ labels: { outcome }, tally })),
      ),
    ];
  }

  #classes(): Sample[] {
    const counts = new Map(classes.map((name) => [name, 0]));
    for (const byMethod of this.#requests.values())
      for (const { statuses } of byMethod.values())
        for (const [status, count] of statuses) {
          const name = `${Math.floor(status / 100)}xx`;
          counts.set(name, (counts.get(name) ?? 0) + count);
        }
    return [...counts].map(([name, value]) => ({ labels: { class: name }, value }));
  }

  #series(): (Series & Requests)[] {
    return [...this.#requests].flatMap(([route, byMethod]) =>
      [...byMethod].map(([method, requests]) => ({ labels: { method, route }, ...requests })),
    );
  }
}

/** The requests of one route and method. A bucket for each status as well would make most of a scrape. */
interface Requests {
  readonly tally: Tally;
  readonly statuses: Map<number, number>;
}

/** The durations of one series as plain numbers, so that counting takes nanoseconds. */
export class Tally {
  count = 0;
  sumSeconds = 0;
  /** Observations per bucket, not cumulative. Those above all bounds are only in `count`. */
  readonly buckets: number[];
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.buckets = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.count += 1;
    this.sumSeconds += seconds;
    const bounds = this.#bounds;
    for (let i = 0; i < bounds.length; i++) {
      if (seconds > (bounds[i] as number)) continue;
      this.buckets[i] = (this.buckets[i] as number) + 1;
      return;
    }
  }
}

/** A key's tally, created on first use. */
function tallyOf<Key>(tallies: Map<Key, Tally>, key: Key, bounds: readonly number[]): Tally {
  let tally = tallies.get(key);
  if (!tally) {
    tally = new Tally(bounds);
    tallies.set(key, tally);
  }
  return tally;
}
