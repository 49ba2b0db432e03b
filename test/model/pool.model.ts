/** A hold of the model; moments are epoch milliseconds, `lease` is in seconds. */
export interface ModelHold {
  readonly pool: number;
  /** Undefined: without a session. */
  readonly who: string | undefined;
  readonly units: number;
  readonly lease: number;
  /** How long it waits, in seconds. */
  readonly ttl: number;
  state: 'WAITING' | 'HELD' | 'RELEASED' | 'LAPSED' | 'CANCELLED' | 'EXPIRED';
  expiresAt: number;
  leaseExpiresAt: number;
  heldAt: number | null;
  finishedAt: number | null;
  /** The fence, for units of a claim, which have no lease of their own. */
  readonly fence?: number;
}

/** How pools behave: their holds in order of arrival, and the holds that could never be granted. */
export class PoolModel {
  now = 0;
  readonly units: number[];
  readonly holds: ModelHold[] = [];
  /** In the order of their grants. */
  readonly granted: ModelHold[] = [];
  /** Called when units of a pool may be free and nobody waits for them. */
  onFree: (pool: number) => void = () => undefined;

  constructor(...units: number[]) {
    this.units = units;
  }

  waiting(pool: number): ModelHold[] {
    return this.holds.filter((hold) => hold.pool === pool && hold.state === 'WAITING');
  }

  heldUnits(pool: number): number {
    const held = this.holds.filter((hold) => hold.pool === pool && hold.state === 'HELD');
    return held.reduce((sum, { units }) => sum + units, 0);
  }

  /** Returns the outcome, and the hold if there is one. */
  acquire(pool: number, units: number, who: string | undefined, ttl: number, lease: number): [string, ModelHold?] {
    const hold: ModelHold = {
      ...{ pool, who, units, lease, ttl, state: 'WAITING', expiresAt: this.now + 1000 * ttl },
      ...{ leaseExpiresAt: 0, heldAt: null, finishedAt: null },
    };
    const size = this.units[pool] ?? 0;
    if (units > size) return ['UNITS_EXCEED_LIMIT'];
    const isFree = this.waiting(pool).length === 0 && this.heldUnits(pool) + units <= size;
    if (!isFree && ttl > 0 && who !== undefined && this.#isStuck(hold)) return ['DEADLOCK'];
    if (!isFree && ttl === 0) return ['POOL_EXHAUSTED'];
    this.holds.push(hold);
    if (isFree) this.#grant(hold, this.now);
    return ['201', hold];
  }

  /** Takes the units of a claim, which are free. */
  claim(pool: number, units: number, fence: number): ModelHold {
    const hold: ModelHold = {
      ...{ pool, who: undefined, units, lease: Infinity, ttl: 0, state: 'WAITING', expiresAt: 0 },
      ...{ leaseExpiresAt: 0, heldAt: null, finishedAt: null, fence },
    };
    this.holds.push(hold);
    this.#grant(hold, this.now);
    return hold;
  }

  renew(hold: ModelHold, isToken: boolean, lease = hold.lease): string {
    if (!isToken || hold.state !== 'HELD') return 'CLAIM_LOST';
    hold.leaseExpiresAt = this.now + 1000 * lease;
    return '200';
  }

  /** Without a token. */
  waitOn(hold: ModelHold, ttl = hold.ttl): string {
    if (hold.state !== 'WAITING') return 'HOLD_NOT_WAITING';
    hold.expiresAt = this.now + 1000 * ttl;
    return '200';
  }

  release(hold: ModelHold, isToken: boolean): string {
    if (isToken && hold.state === 'RELEASED') return '200';
    if (!isToken || hold.state !== 'HELD') return 'CLAIM_LOST';
    this.#end(hold, 'RELEASED', this.now);
    return '200';
  }

  cancel(hold: ModelHold): string {
    if (hold.state === 'CANCELLED') return '200';
    if (hold.state !== 'WAITING') return 'HOLD_NOT_WAITING';
    this.#end(hold, 'CANCELLED', this.now);
    return '200';
  }

  /** Cancels the run of these holds. */
  stop(holds: readonly ModelHold[]): void {
    const live = holds.filter(({ state }) => state === 'WAITING' || state === 'HELD');
    for (const hold of live)
      Object.assign(hold, { state: hold.state === 'HELD' ? 'RELEASED' : 'CANCELLED', finishedAt: this.now });
    for (const pool of new Set(live.map((hold) => hold.pool))) this.#serve(pool, this.now);
  }

  change(pool: number, to: number): string {
    if (this.waiting(pool).some(({ units }) => units > to)) return 'LIMIT_BELOW_USE';
    const isMore = to > (this.units[pool] ?? 0);
    this.units[pool] = to;
    if (isMore) this.#serve(pool, this.now);
    return '200';
  }

  /** The moment at which something happens next. */
  get nextAt(): number {
    const ends = this.holds.map((hold) => {
      if (hold.state === 'WAITING') return hold.expiresAt;
      return hold.state === 'HELD' ? hold.leaseExpiresAt : Number.POSITIVE_INFINITY;
    });
    return Math.min(...ends);
  }

  /** Everything happens at its moment: first waits end, then leases, each in order of creation. */
  advance(until: number): void {
    while (this.nextAt <= until) {
      this.now = this.nextAt;
      for (const hold of this.holds)
        if (hold.state === 'WAITING' && hold.expiresAt <= this.now) this.#end(hold, 'EXPIRED', this.now);
      for (const hold of this.holds)
        if (hold.state === 'HELD' && hold.leaseExpiresAt <= this.now) this.#end(hold, 'LAPSED', this.now);
    }
    this.now = until;
  }

  #end(hold: ModelHold, state: ModelHold['state'], at: number): void {
    hold.state = state;
    hold.finishedAt = at;
    this.#serve(hold.pool, at);
  }

  #grant(hold: ModelHold, at: number): void {
    Object.assign(hold, { state: 'HELD', heldAt: at, leaseExpiresAt: at + 1000 * hold.lease });
    this.granted.push(hold);
  }

  #serve(pool: number, at: number): void {
    const [head] = this.waiting(pool);
    if (!head) this.onFree(pool);
    // Its end serves those behind it.
    else if (head.expiresAt <= at) this.#end(head, 'EXPIRED', at);
    else if (this.heldUnits(pool) + head.units <= (this.units[pool] ?? 0)) {
      this.#grant(head, at);
      this.#serve(pool, at);
    }
  }

  /**
   * Whether a hold would wait for ever: it could not be granted even if every party that waits for nothing released its
   * holds, every party granted by that did the same, and so on.
   */
  #isStuck(asking: ModelHold): boolean {
    let held = this.holds.filter(({ state }) => state === 'HELD');
    let waits = [...this.holds.filter(({ state }) => state === 'WAITING'), asking];
    // A hold without a session is a party by itself.
    const party = (hold: ModelHold): unknown => hold.who ?? hold;
    for (let hasChanged = true; hasChanged; ) {
      hasChanged = false;
      const idle = held.filter((one) => !waits.some((other) => party(other) === party(one)));
      held = held.filter((one) => !idle.includes(one));
      if (idle.length > 0) hasChanged = true;
      for (const pool of this.units.keys()) {
        const head = waits.find((one) => one.pool === pool);
        const used = held.filter((one) => one.pool === pool).reduce((sum, { units }) => sum + units, 0);
        if (!head || used + head.units > (this.units[pool] ?? 0)) continue;
        waits = waits.filter((one) => one !== head);
        held.push(head);
        hasChanged = true;
      }
    }
    return waits.includes(asking);
  }
}
