/** How a budget behaves, by sums over its reservations: no running total that could drift. */

export interface Held {
  readonly id: string;
  readonly amount: bigint;
  readonly settleBy: number | null;
  readonly workKey: string | null;
  readonly createdAt: number;
  settled: bigint;
  voided: bigint;
  closedAt: number | null;
}

const sum = (of: readonly bigint[]): bigint => of.reduce((total, part) => total + part, 0n);

export const remainderOf = (held: Held): bigint => held.amount - held.settled - held.voided;

export class BudgetModel {
  limit: bigint;
  readonly reservations: Held[] = [];
  readonly #entries = new Map<string, { held: Held; amount: bigint }>();

  constructor(limit: bigint) {
    this.limit = limit;
  }

  get balances(): Record<string, string> {
    const reserved = sum(this.reservations.map(remainderOf));
    const settled = sum(this.reservations.map((held) => held.settled));
    return {
      limit: `${this.limit}`,
      reserved: `${reserved}`,
      settled: `${settled}`,
      available: `${this.limit - reserved - settled}`,
    };
  }

  /** Changes the limit; returns the status or an error code. */
  change(limit: bigint): string {
    if (limit < this.limit - BigInt(this.balances['available'] ?? 0)) return 'LIMIT_BELOW_USE';
    this.limit = limit;
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
    return amount > BigInt(this.balances['available'] ?? 0) ? 'INSUFFICIENT_BUDGET' : '201';
  }

  /** Settles an amount, or voids the remainder; returns `200`, `replay` or an error code, and the entry's amount. */
  take(kind: 'settle' | 'void', held: Held, asked: bigint, workKey: string, now: number): [string, bigint] {
    const first = this.#entries.get(`${kind} ${workKey}`);
    if (first) {
      const same = first.held === held && (kind === 'void' || first.amount === asked);
      return same ? ['replay', first.amount] : ['WORK_KEY_CONFLICT', 0n];
    }
    if (held.closedAt !== null) return ['RESERVATION_CLOSED', 0n];
    const amount = kind === 'void' ? remainderOf(held) : asked;
    if (amount > remainderOf(held)) return ['SETTLEMENT_EXCEEDS_RESERVATION', 0n];
    this.#entries.set(`${kind} ${workKey}`, { held, amount });
    if (kind === 'void') held.voided += amount;
    else held.settled += amount;
    if (remainderOf(held) === 0n) held.closedAt = now;
    return ['200', amount];
  }
}
