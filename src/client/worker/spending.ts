import { MusterError } from '../error.ts';
import type { Muster } from '../muster.ts';
import type { Answer } from '../types.ts';

type Amount = string | bigint | number;
type Reserved = Answer<'budget.reserve'>;

/** Units that are granted to a process that has died are lost to the others: its place ends so soon after its last renewal. */
const waiterTtlSeconds = 30;
const waitSeconds = waiterTtlSeconds / 3;

/** A budget by its name, which is unique in its space, or by its id. */
export type BudgetRef = string | { readonly budgetId: string };

/** An allowance by its name, which is unique in its space, or by its id. */
export type AllowanceRef = string | { readonly allowanceId: string };

/** What a task spends for. */
export interface Spender {
  readonly muster: Muster;
  readonly scopeId: string;
  readonly holder: string;
  /** The message's id: an attempt finds what an earlier one reserved by it. */
  readonly workId: string;
}

/** Money that is set aside for a task. */
export class Hold {
  readonly #muster: Muster;
  readonly reservation: Reserved;
  #isOpen = true;
  #hasSpent = false;

  constructor(muster: Muster, reservation: Reserved) {
    this.#muster = muster;
    this.reservation = reservation;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get hasSpent(): boolean {
    return this.#hasSpent;
  }

  /** Spends what the work has cost, at most what was reserved, and gives back the rest. */
  async settle(amountMinor: Amount = this.reservation.remainingMinor): Promise<void> {
    const { id: reservationId, budgetId, workKey, remainingMinor } = this.reservation;
    const bill = { budgetId, reservationId, workKey: workKey ?? reservationId };
    const [cost, held] = [BigInt(amountMinor), BigInt(remainingMinor)];
    if (cost < 0n || cost > held) throw new RangeError(`${cost} is not from 0 to the ${held} that are reserved`);
    this.#isOpen = false;
    if (cost === 0n) return void (await this.#muster.budget.void(bill));
    this.#hasSpent = true;
    await this.#muster.budget.settle({ ...bill, amountMinor: String(cost) });
    if (cost < held) await this.#muster.budget.void(bill);
  }

  /** Gives back all of it. */
  async void(): Promise<void> {
    await this.settle(0);
  }
}

/**
 * Reserves for a task. The reservation's workKey is the task's: what an attempt that died has reserved is found by the
 * next one, and what is used up or given back by then is followed by a new one.
 */
export async function reserve(spender: Spender, budget: BudgetRef, amountMinor: Amount): Promise<Hold> {
  const { muster, workId, scopeId, holder } = spender;
  const budgetId = typeof budget === 'object' ? budget.budgetId : await idOf('budget', muster, budget);
  for (let n = 1; ; n++) {
    const workKey = `${workId}/${n}`;
    const wanted = { budgetId, scopeId, holder, amountMinor: String(amountMinor), workKey };
    try {
      const reservation = await muster.budget.reserve(wanted);
      // An attempt that died between settling and giving back: what is left is not enough for another.
      if (reservation.state === 'ACTIVE' && reservation.settledMinor === '0') return new Hold(muster, reservation);
      if (reservation.state === 'ACTIVE') await new Hold(muster, reservation).void();
    } catch (error) {
      // An attempt that reserved another amount: that one's is left to it.
      if (!(error instanceof MusterError && error.code === 'WORK_KEY_CONFLICT')) throw error;
    }
  }
}

/** Takes units of an allowance: at once where they are there, else in line; the signal ends it. */
export async function takeUnits(
  { muster, scopeId, holder }: Spender,
  allowance: AllowanceRef,
  units: number,
  signal: AbortSignal,
): Promise<void> {
  const allowanceId =
    typeof allowance === 'object' ? allowance.allowanceId : await idOf('allowance', muster, allowance);
  for (;;) {
    let waiter: Pick<Answer<'waiter.view'>, 'waiterId' | 'state'>;
    waiter = await muster.allowance.wait({ allowanceId, scopeId, units, holder, ttlSeconds: waiterTtlSeconds });
    const { waiterId } = waiter;
    try {
      while (waiter.state === 'WAITING') {
        waiter = await muster.waiter.view({ waiterId, waitSeconds }, { signal });
        if (waiter.state === 'WAITING') await keepPlace(muster, waiterId, signal);
      }
    } catch (error) {
      await muster.waiter.cancel({ waiterId }).catch(() => undefined);
      throw error;
    }
    if (waiter.state === 'GRANTED') return;
    if (waiter.state === 'CANCELLED') throw new Error('the waiter was cancelled');
  }
}

/** The next view shows the end of a waiter that has just left the line. */
async function keepPlace(muster: Muster, waiterId: string, signal: AbortSignal): Promise<void> {
  try {
    await muster.waiter.renew({ waiterId }, { signal });
  } catch (error) {
    if (!(error instanceof MusterError && error.code === 'WAITER_NOT_WAITING')) throw error;
  }
}

/** Ids by kind and name. */
const known = new WeakMap<Muster, Map<string, string>>();

async function idOf(room: 'budget' | 'allowance', muster: Muster, name: string): Promise<string> {
  const ids = known.get(muster) ?? new Map<string, string>();
  known.set(muster, ids);
  const found = ids.get(`${room} ${name}`) ?? (await muster[room].all({ name }).next()).value?.id;
  if (found === undefined) throw new Error(`there is no ${room} named ${name}`);
  ids.set(`${room} ${name}`, found);
  return found;
}
