export type Waiter = { units: number; ttl: number; expiresAt: number; state: string; grantedAt: number | null };

/** Units that were taken by a consume or a grant; settled: the units really used, once that is known. */
export interface Taken {
  readonly units: number;
  readonly at: number;
  settled: number | null;
}

const windowMs = 10_000;

/** How an allowance of 5 units (until changed) per 10 seconds behaves; moments are epoch milliseconds, `ttl` is in seconds. */
export class AllowanceModel {
  readonly waiters: Waiter[] = [];
  readonly keys = new Map<string, string>();
  readonly consumed: Taken[] = [];
  readonly granted = new Map<Waiter, Taken>();
  now = 0;
  used = 0;
  cooldownUntil = 0;
  limit = 5;
  /** Called when units may be free and nobody waits for them. */
  onFree: () => void = () => undefined;

  get queue(): Waiter[] {
    return this.waiters.filter(({ state }) => state === 'WAITING');
  }

  get windowStartedAt(): number {
    return this.now - (this.now % windowMs);
  }

  /** The moment at which something happens next. */
  get nextAt(): number {
    const moments = [
      this.windowStartedAt + windowMs,
      this.cooldownUntil,
      ...this.queue.map(({ expiresAt }) => expiresAt),
    ];
    return Math.min(...moments.filter((at) => at > this.now));
  }

  /** Each moment may start a window, expire waiters and grant others. */
  advance(until: number): void {
    while (this.nextAt <= until) {
      this.now = this.nextAt;
      if (this.now === this.windowStartedAt) this.used = 0;
      const before = this.queue.length;
      for (const waiter of this.queue) if (waiter.expiresAt <= this.now) waiter.state = 'EXPIRED';
      this.#serve(before);
    }
    this.now = until;
  }

  /** The number of units that a caller can take without waiting. */
  get available(): number {
    return this.queue.length > 0 || this.cooldownUntil > this.now ? 0 : Math.max(0, this.limit - this.used);
  }

  use(units: number): void {
    this.used += units;
    this.consumed.push({ units, at: this.now, settled: null });
  }

  #serve(before = this.queue.length): void {
    for (const waiter of this.queue) {
      if (this.cooldownUntil > this.now || this.used + waiter.units > this.limit) return;
      this.used += waiter.units;
      Object.assign(waiter, { state: 'GRANTED', grantedAt: this.now });
      this.granted.set(waiter, { units: waiter.units, at: this.now, settled: null });
    }
    if (before > 0) this.onFree();
  }

  /** More units are available than before. */
  #more(): void {
    if (this.queue.length > 0) this.#serve();
    else this.onFree();
  }

  consume(units: number, holder: string, workKey: string | undefined): string {
    const first = workKey && this.keys.get(workKey);
    if (first) return first === `${units} ${holder}` ? 'replay' : 'WORK_KEY_CONFLICT';
    if (units > this.limit) return 'UNITS_EXCEED_LIMIT';
    if (this.cooldownUntil > this.now) return 'ALLOWANCE_COOLING_DOWN';
    if (this.queue.length > 0 || this.used + units > this.limit) return 'ALLOWANCE_EXHAUSTED';
    this.use(units);
    if (workKey) this.keys.set(workKey, `${units} ${holder}`);
    return '201';
  }

  settle(taken: Taken | undefined, units: number): string {
    if (!taken) return 'CONSUMPTION_NOT_FOUND';
    if (taken.settled !== null) return taken.settled === units ? 'replay' : 'CONSUMPTION_SETTLED';
    taken.settled = units;
    if (taken.at >= this.windowStartedAt) {
      this.used += units - taken.units;
      if (units < taken.units) this.#more();
    }
    return '200';
  }

  observe(remaining: number, resetAt: number): string {
    this.used = Math.max(this.used, this.limit - remaining);
    if (remaining === 0 && resetAt > this.now) this.cooldownUntil = Math.max(this.cooldownUntil, resetAt);
    return '200';
  }

  /** The run's consumptions, without grants. */
  get inRun(): { count: number; units: number } {
    const units = this.consumed.reduce((sum, taken) => sum + (taken.settled ?? taken.units), 0);
    return { count: this.consumed.length, units };
  }

  wait(units: number, ttl: number): string {
    if (units > this.limit) return 'UNITS_EXCEED_LIMIT';
    const before = this.queue.length;
    this.waiters.push({ units, ttl, expiresAt: this.now + 1000 * ttl, state: 'WAITING', grantedAt: null });
    this.#serve(before);
    return '201';
  }

  change(limit: number): string {
    if (this.queue.some(({ units }) => units > limit)) return 'LIMIT_BELOW_USE';
    const isMore = limit > this.limit;
    this.limit = limit;
    if (isMore) this.#more();
    return '200';
  }

  renew(waiter: Waiter, ttl: number | undefined): string {
    if (waiter.state !== 'WAITING') return 'WAITER_NOT_WAITING';
    waiter.expiresAt = this.now + 1000 * (ttl ?? waiter.ttl);
    return '200';
  }

  cancel(waiter: Waiter): string {
    if (waiter.state === 'WAITING') {
      const before = this.queue.length;
      waiter.state = 'CANCELLED';
      this.#serve(before);
    }
    return waiter.state === 'CANCELLED' ? '200' : 'WAITER_NOT_WAITING';
  }
}
