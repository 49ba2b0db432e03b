/** How a budget behaves, by sums over its reservations: no running total that could drift. */

export interface Held {
  readonly id: string;
  readonly amount: bigint;
  readonly settleBy: number | null;
  readonly onOverdue: 'KEEP' | 'SETTLE';
  readonly workKey: string | null;
  readonly createdAt: number;
  settled: bigint;
  voided: bigint;
  closedAt: number | null;
}

const sum = (of: readonly bigint[]): bigint => of.reduce((total, part) => total + part, 0n);

const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);

export const remainderOf = (held: Held): bigint => held.amount - least(held.settled, held.amount) - held.voided;

/** The amounts that an entry records. */
export interface Taken {
  readonly amount: bigint;
  readonly overdrawn: bigint;
}

const nothing: Taken = { amount: 0n, overdrawn: 0n };

export class BudgetModel {
  limit: bigint;
  readonly reservations: Held[] = [];
  /** Spent beyond the limit, and not covered by a limit since. */
  overdrawn = 0n;
  readonly #entries = new Map<string, Taken & { held: Held }>();

  constructor(limit: bigint) {
    this.limit = limit;
  }

  get balances(): Record<string, string> {
    const reserved = sum(this.reservations.map(remainderOf));
    const settled = sum(this.reservations.map((held) => held.settled)) - this.overdrawn;
    return {
      limit: `${this.limit}`,
      reserved: `${reserved}`,
      settled: `${settled}`,
      available: `${this.limit - reserved - settled}`,
      overdrawn: `${this.overdrawn}`,
    };
  }

  /** Settles the rest of every reservation that was to be settled by now. */
  pass(now: number): void {
    for (const held of this.reservations) {
      if (held.onOverdue === 'KEEP' || held.settleBy === null || held.settleBy > now || held.closedAt !== null)
        continue;
      held.settled += remainderOf(held);
      held.closedAt = held.settleBy;
    }
  }

  /** Changes the limit; returns the status or an error code. */
  change(limit: bigint): string {
    if (limit < this.limit - BigInt(this.balances['available'] ?? 0)) return 'LIMIT_BELOW_USE';
    this.limit = limit;
    if (BigInt(this.balances['available'] ?? 0) >= this.overdrawn) this.overdrawn = 0n;
    return '200';
  }

  /** The reservation created with this workKey. */
  reservationWith(workKey: string | null): Held | undefined {
    return this.reservations.find((held) => workKey !== null && held.workKey === workKey);
  }

  /** The outcome of a reserve: its status or an error code. The caller adds the reservation. */
  reserve(amount: bigint, workKey: string | null): string {
    if (amount === 0n) return 'VALIDATION_FAILED';
    const first = this.reservationWith(workKey);
    if (first) return first.amount === amount ? 'replay' : 'WORK_KEY_CONFLICT';
    const isShort = this.overdrawn > 0n || amount > BigInt(this.balances['available'] ?? 0);
    return isShort ? 'INSUFFICIENT_BUDGET' : '201';
  }

  /**
   * Settles an amount, or voids the remainder; returns `200`, `replay` or an error code, and the amounts of the entry.
   */
  take(kind: 'settle' | 'overrun' | 'void', held: Held, asked: bigint, workKey: string, now: number): [string, Taken] {
    const key = `${kind === 'void' ? 'VOID' : 'SETTLE'} ${workKey}`;
    const first = this.#entries.get(key);
    if (first) {
      const same = first.held === held && (kind === 'void' || first.amount === asked);
      return same ? ['replay', first] : ['WORK_KEY_CONFLICT', nothing];
    }
    if (held.closedAt !== null) return ['RESERVATION_CLOSED', nothing];
    const amount = kind === 'void' ? remainderOf(held) : asked;
    const above = amount - least(amount, remainderOf(held));
    if (above > 0n && kind !== 'overrun') return ['SETTLEMENT_EXCEEDS_RESERVATION', nothing];
    const overdrawn = above - least(above, BigInt(this.balances['available'] ?? 0));
    this.#entries.set(key, { held, amount, overdrawn });
    this.overdrawn += overdrawn;
    if (kind === 'void') held.voided += amount;
    else held.settled += amount;
    if (remainderOf(held) === 0n) held.closedAt = now;
    return ['200', { amount, overdrawn }];
  }
}
