/** What a budget does, by sums over its reservations: nothing is carried along that could drift. */

export interface Held {
  readonly id: string;
  readonly amount: bigint;
  readonly settleBy: number | null;
  readonly createdAt: number;
  settled: bigint;
  voided: bigint;
  closedAt: number | null;
}

const sum = (of: readonly bigint[]): bigint => of.reduce((total, part) => total + part, 0n);

export const remainderOf = (held: Held): bigint => held.amount - held.settled - held.voided;

export class BudgetModel {
  readonly limit: bigint;
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

  /** The status or the code of a reserve; what was made is put into `reservations`. */
  reserve(amount: bigint): string {
    if (amount === 0n) return 'VALIDATION_FAILED';
    return amount > BigInt(this.balances['available'] ?? 0) ? 'INSUFFICIENT_BUDGET' : '201';
  }

  /** A settle (of an amount) or a void (of what is left): `200`, `replay` or a code, and the entry's amount. */
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
