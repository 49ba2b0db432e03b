import { isRefusal, type MusterError } from '../error.ts';
import type { AtomicCalls, Calls } from '../generated/calls.ts';
import { giveBack, takeFor } from '../giving-back.ts';
import { idByName } from '../ids.ts';
import { placeSeconds, waitInLine } from '../in-line.ts';
import type { Answer, Args, AtomicAnswers, CallOptions } from '../types.ts';

export type Amount = string | bigint | number;
type Reserved = Answer<'budget.reserve'>;

/** With a settleBy in the past, a reserve finds the reservation of its workKey but creates none. */
const passed = '2000-01-01T00:00:00.000Z';

/** A budget by its name, which is unique in its space, or by its id. */
export type BudgetRef = string | { readonly budgetId: string };

/** An allowance by its name, which is unique in its space, or by its id. */
export type AllowanceRef = string | { readonly allowanceId: string };

/** A reservation in its current state. */
export type ReservationRecord = Answer<'budget.view'>['reservations'][number];

/** The result of a settlement. */
export interface Settlement {
  /** The amount recorded as spent. */
  readonly amountMinor: string;
  /**
   * The part that the budget could not pay. Above zero the budget is overdrawn, and nothing can be reserved until its next
   * windows have paid it, or its limit is raised.
   */
  readonly overdrawnMinor: string;
}

/** When a reservation that is still open becomes overdue, and what happens to it then. */
export interface ReserveOptions {
  /** When it becomes overdue. */
  readonly settleBy?: Date | string;
  /** KEEP, the default: it stays set aside. SETTLE: it is settled. */
  readonly onOverdue?: 'KEEP' | 'SETTLE';
}

/** A task, or other work, that spends. */
export interface Spender {
  readonly muster: Calls & { atomic<R>(plan: (t: AtomicCalls) => R, options?: CallOptions): Promise<AtomicAnswers<R>> };
  readonly scopeId: string;
  readonly holder: string;
  /** The name of the work that is paid for, the same in every attempt. */
  readonly workId: string;
  readonly attempt: number;
  /** When the attempt began, by the server's clock. */
  readonly claimedAt: string | null;
  /** Aborts when the attempt has ended, or nobody waits for it any more. */
  readonly signal: AbortSignal;
  /** Whether a task has lost its claim, so that the rest of its reservations belongs to the next attempt. */
  readonly isLost: () => boolean;
  /** Makes a call until it is answered, as long as the attempt lasts. */
  readonly insist: <T>(call: (options: CallOptions) => Promise<T>) => Promise<T>;
  /** The same for a settlement, which is made even if the attempt has ended. */
  readonly settle: <T>(call: (options: CallOptions) => Promise<T>) => Promise<T>;
}

/** Money set aside for a task. */
export class Reservation {
  /** The record at its creation. */
  readonly record: Reserved;
  /**
   * Reservations of the message's earlier attempts that were, or may have been, spent, oldest first. An ACTIVE one belongs to
   * an attempt that died before it settled; if it has the same amount, it is also this one's `record`.
   */
  readonly earlier: readonly ReservationRecord[];
  readonly #spender: Spender;
  #isOpen = true;
  #hasSpent = false;

  constructor(spender: Spender, record: Reserved, earlier: readonly ReservationRecord[] = []) {
    this.#spender = spender;
    this.record = record;
    this.earlier = earlier;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get hasSpent(): boolean {
    return this.#hasSpent;
  }

  /** Records the cost of the work, even above the reservation, and returns the rest. label: what it was spent on. */
  async settle(
    amountMinor: Amount = this.record.remainingMinor,
    { label }: { readonly label?: string } = {},
  ): Promise<Settlement> {
    const cost = BigInt(amountMinor);
    if (cost < 0n) throw new RangeError(`a cost is at least 0, not ${cost}`);
    const { attempt, claimedAt, isLost } = this.#spender;
    this.#isOpen = false;
    if (cost > 0n) this.#hasSpent = true;
    // A handler whose claim has ended may settle as well: the costs of both count. The attempt's number does not
    // distinguish them, as a worker that closes gives its message back without counting the attempt.
    const workKey = `${this.record.id}/${claimedAt ?? attempt}`;
    // Once the claim is lost, the rest belongs to the next attempt, if there is one.
    const keepsRest = cost > 0n && isLost();
    const { isActive, ...settlement } = await book(this.#spender, this.record, { workKey, cost, label, keepsRest });
    this.#isOpen = isActive;
    return settlement;
  }

  /** Returns all of it. */
  async void(): Promise<void> {
    await this.settle(0);
  }
}

interface Bill {
  readonly workKey: string;
  readonly cost: bigint;
  readonly label: string | undefined;
  readonly keepsRest: boolean;
}

const isClosed = (error: unknown): error is MusterError => isRefusal(error, 'RESERVATION_CLOSED');

/** Records a cost. In the same step it returns the rest of the reservation, unless that is kept. */
async function book(
  spender: Spender,
  record: Reserved,
  { workKey, cost, label, keepsRest }: Bill,
): Promise<Settlement & { readonly isActive: boolean }> {
  const { muster, settle } = spender;
  const rest = { budgetId: record.budgetId, reservationId: record.id, workKey };
  const bill = { ...rest, amountMinor: String(cost), overrun: true, ...(label !== undefined && { label }) };
  const answered = ({ entry: { amountMinor, overdrawnMinor }, reservation }: Answer<'budget.settle'>) => {
    return { amountMinor, overdrawnMinor, isActive: reservation.state === 'ACTIVE' };
  };
  const nothing = { amountMinor: '0', overdrawnMinor: '0', isActive: false };
  try {
    if (cost === 0n) {
      await settle((options) => muster.budget.void(rest, options));
      return nothing;
    }
    if (keepsRest || cost >= BigInt(record.remainingMinor))
      return answered(await settle((options) => muster.budget.settle(bill, options)));
    const both = await settle((options) =>
      muster.atomic((t) => ({ settled: t.budget.settle(bill), voided: t.budget.void(rest) }), options),
    );
    return { ...answered(both.settled), isActive: false };
  } catch (error) {
    if (!isClosed(error)) throw error;
    // Another attempt has spent a part of it, so that nothing is left to return.
    if (error.index === 1) return answered(await settle((options) => muster.budget.settle(bill, options)));
    const settled = await settledWhenOverdue(spender, record);
    if (settled !== undefined) return { ...nothing, amountMinor: settled };
    // Somebody else has returned it.
    if (cost === 0n) return nothing;
    throw error;
  }
}

/** The amount that was settled because the reservation was overdue; undefined if somebody has closed it. */
async function settledWhenOverdue({ settle, muster }: Spender, record: Reserved): Promise<string | undefined> {
  const { onOverdue, budgetId, scopeId, holder, amountMinor, workKey } = record;
  if (onOverdue !== 'SETTLE' || workKey === null) return undefined;
  const asked = { budgetId, scopeId, holder, amountMinor, workKey };
  // The workKey is known, so this answers the reservation in its present state.
  const found = await settle((options) => muster.budget.reserve(asked, options));
  return found.overdue ? found.settledMinor : undefined;
}

/** Makes a reservation that no other attempt takes over. */
export async function reserveOwn(
  spender: Spender,
  budget: BudgetRef,
  asked: Pick<Args<'budget.reserve'>, 'amountMinor' | 'settleBy' | 'onOverdue'> & { readonly workKey: string },
) {
  const { muster, scopeId, holder, insist } = spender;
  const wanted = { ...asked, budgetId: await budgetIdOf(spender, budget), scopeId, holder };
  const record = await insist((options) => muster.budget.reserve(wanted, options));
  const { workKey } = asked;
  return {
    workKey,
    /** Records a cost, and returns the rest. */
    settle: async (cost: bigint, label?: string): Promise<void> => {
      await book(spender, record, { workKey, cost, label, keepsRest: false });
    },
  };
}

/**
 * Reserves for a task. The workKey names the message, the reservation's number in it and the attempt, so that an attempt
 * finds the reservations of earlier ones. It takes over the reservation of an attempt that died; a spent or returned one is
 * followed by a new reservation.
 */
export async function reserve(
  spender: Spender,
  budget: BudgetRef,
  amountMinor: Amount,
  { settleBy, onOverdue }: ReserveOptions = {},
): Promise<Reservation> {
  const { muster, workId, scopeId, holder, attempt, claimedAt, insist } = spender;
  const overdue = {
    ...(settleBy !== undefined && { settleBy: new Date(settleBy).toISOString() }),
    ...(onOverdue !== undefined && { onOverdue }),
  };
  const budgetId = await budgetIdOf(spender, budget);
  const wanted = { budgetId, scopeId, holder, amountMinor: String(amountMinor) };
  const earlier: ReservationRecord[] = [];
  for (let n = 1; ; n++) {
    const workKey = `${workId}/${n}`;
    const isPast = n < attempt;
    try {
      const asked = { ...wanted, workKey, ...(isPast ? { settleBy: passed } : overdue) };
      const found = await insist((options) => muster.budget.reserve(asked, options));
      const { state, settledMinor, createdAt } = found;
      const isEarlier = isPast || (claimedAt !== null && createdAt < claimedAt);
      if (isEarlier && (state === 'ACTIVE' || settledMinor !== '0')) earlier.push(found);
      if (state === 'ACTIVE' && settledMinor === '0') return new Reservation(spender, found, earlier);
      // An attempt died between settling and returning the rest, which is not enough for another attempt.
      if (state === 'ACTIVE') await new Reservation(spender, found).void();
    } catch (error) {
      // That attempt reserved another amount, which stays with it.
      if (isRefusal(error, 'WORK_KEY_CONFLICT')) earlier.push(...(await activeWith(spender, budgetId, workKey)));
      // That attempt reserved nothing.
      else if (!(isPast && isRefusal(error, 'VALIDATION_FAILED'))) throw error;
    }
  }
}

/** The ACTIVE reservation of a workKey, if there is one and the key may see it. */
async function activeWith(
  { muster, insist }: Spender,
  budgetId: string,
  workKey: string,
): Promise<ReservationRecord[]> {
  try {
    for (let from: { cursor?: string } = {}; ; ) {
      const asked = { budgetId, state: 'ACTIVE', limit: 200, ...from } as const;
      const { reservations, nextCursor } = await insist((options) => muster.budget.view(asked, options));
      const found = reservations.filter((one) => one.workKey === workKey);
      if (found.length > 0 || nextCursor === null) return found;
      from = { cursor: nextCursor };
    }
  } catch (error) {
    if (isRefusal(error, 'PERMISSION_DENIED')) return [];
    throw error;
  }
}

/** Units that were granted. */
export interface TakenUnits {
  readonly allowanceId: string;
  readonly waiterId: string;
}

/** Takes units of an allowance: at once if available, else in line. */
export async function takeUnits(spender: Spender, allowance: AllowanceRef, units: number): Promise<TakenUnits> {
  const { muster, scopeId, holder, signal, insist } = spender;
  const allowanceId = await allowanceIdOf(spender, allowance);
  const asked = { allowanceId, scopeId, units, holder, ttlSeconds: placeSeconds };
  for (;;) {
    const waiter = await takeFor(
      signal,
      () => insist((options) => muster.allowance.wait(asked, options)),
      (one) => leave(spender, allowanceId, one),
    );
    const { waiterId } = waiter;
    const place = {
      view: (waitSeconds: number, options: CallOptions) => muster.waiter.view({ waiterId, waitSeconds }, options),
      renew: (ttlSeconds: number, options: CallOptions) => muster.waiter.renew({ waiterId, ttlSeconds }, options),
    };
    let found: Pick<Answer<'waiter.view'>, 'waiterId' | 'state'> = waiter;
    try {
      ({ found } = await waitInLine(place, found, { untilMs: Number.POSITIVE_INFINITY, signal }));
      signal.throwIfAborted();
    } catch (error) {
      giveBack(() => leave(spender, allowanceId, found));
      throw error;
    }
    if (found.state === 'GRANTED') return { allowanceId, waiterId };
    if (found.state === 'CANCELLED') throw new Error('the waiter was cancelled');
  }
}

/** Leaves the line, or returns the units if they were granted meanwhile. */
async function leave(
  { muster }: Spender,
  allowanceId: string,
  { waiterId, state }: Pick<Answer<'waiter.view'>, 'waiterId' | 'state'>,
): Promise<void> {
  if (state === 'WAITING')
    try {
      await muster.waiter.cancel({ waiterId });
      return;
    } catch (error) {
      if (!isRefusal(error, 'WAITER_NOT_WAITING')) throw error;
    }
  if (state !== 'EXPIRED' && state !== 'CANCELLED')
    await muster.allowance.settle({ allowanceId, consumptionId: waiterId, units: 0 });
}

export async function budgetIdOf({ muster, insist }: Spender, budget: BudgetRef): Promise<string> {
  return typeof budget === 'object' ? budget.budgetId : idByName(muster, 'budget', budget, insist);
}

export async function allowanceIdOf({ muster, insist }: Spender, allowance: AllowanceRef): Promise<string> {
  return typeof allowance === 'object' ? allowance.allowanceId : idByName(muster, 'allowance', allowance, insist);
}
