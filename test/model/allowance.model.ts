export type Waiter = { units: number; ttl: number; expiresAt: number; state: string; grantedAt: number | null };

/** How an allowance of 5 units (until changed) per 10 seconds behaves; times in seconds. */
export class AllowanceModel {
  readonly waiters: Waiter[] = [];
  readonly keys = new Map<string, string>();
  now = 0;
  used = 0;
  cooldownUntil = 0;
  limit = 5;

  get queue(): Waiter[] {
    return this.waiters.filter(({ state }) => state === 'WAITING');
  }

  /** Advances by seconds; each may start a window, expire waiters and grant others. */
  pass(seconds: number): void {
    for (let left = seconds; left > 0; left--) {
      this.now++;
      if (this.now % 10 === 0) this.used = 0;
      for (const waiter of this.queue) if (waiter.expiresAt <= this.now) waiter.state = 'EXPIRED';
      this.serve();
    }
  }

  serve(): void {
    for (const waiter of this.queue) {
      if (this.cooldownUntil > this.now || this.used + waiter.units > this.limit) return;
      this.used += waiter.units;
      Object.assign(waiter, { state: 'GRANTED', grantedAt: this.now });
    }
  }

  consume(units: number, holder: string, workKey: string | undefined): string {
    const first = workKey && this.keys.get(workKey);
    if (first) return first === `${units} ${holder}` ? 'replay' : 'WORK_KEY_CONFLICT';
    if (units > this.limit) return 'UNITS_EXCEED_LIMIT';
    if (this.cooldownUntil > this.now) return 'ALLOWANCE_COOLING_DOWN';
    if (this.queue.length > 0 || this.used + units > this.limit) return 'ALLOWANCE_EXHAUSTED';
    this.used += units;
    if (workKey) this.keys.set(workKey, `${units} ${holder}`);
    return '201';
  }

  wait(units: number, ttl: number): string {
    if (units > this.limit) return 'UNITS_EXCEED_LIMIT';
    this.waiters.push({ units, ttl, expiresAt: this.now + ttl, state: 'WAITING', grantedAt: null });
    this.serve();
    return '201';
  }

  change(limit: number): string {
    if (this.queue.some(({ units }) => units > limit)) return 'LIMIT_BELOW_USE';
    this.limit = limit;
    this.serve();
    return '200';
  }

  renew(waiter: Waiter, ttl: number | undefined): string {
    if (waiter.state !== 'WAITING') return 'WAITER_NOT_WAITING';
    waiter.expiresAt = this.now + (ttl ?? waiter.ttl);
    return '200';
  }

  cancel(waiter: Waiter): string {
    if (waiter.state === 'WAITING') waiter.state = 'CANCELLED';
    this.serve();
    return waiter.state === 'CANCELLED' ? '200' : 'WAITER_NOT_WAITING';
  }
}
