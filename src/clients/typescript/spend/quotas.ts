import { isRefusal } from '../error.ts';
import { giveBack } from '../giving-back.ts';
import { type AllowanceRef, allowanceIdOf, type Spender, type TakenUnits, takeUnits } from '../worker/spending.ts';
import type { ModelCall } from './model-call.ts';
import type { Counted } from './rate-limits.ts';

/** An allowance that represents one of the provider's limits. */
export interface SpendQuota {
  readonly quota: AllowanceRef;
  /** What it counts; default `tokens`. */
  readonly counts?: Counted;
  /** The most that the call may use; default: `estimate.units` if it counts tokens, 1 if it counts requests. */
  readonly units?: number;
}

/** Units to take. */
export interface WantedUnits {
  readonly quota: AllowanceRef;
  readonly counts: Counted;
  readonly units: number;
}

interface Taken extends TakenUnits {
  readonly wanted: WantedUnits;
}

const presetCooldownSeconds = 5;
const maxCooldownSeconds = 3600;
/** This close to a provider's reset, reported remaining units are ignored: they would be applied to the next window. */
const staleMs = 250;

/** The units that one call of the function has taken from its quotas. */
export class Quotas {
  readonly #spender: Spender;
  readonly #taken: Taken[] = [];
  /** How long this call alone waits before its next attempt. */
  restMs = 0;

  private constructor(spender: Spender) {
    this.#spender = spender;
  }

  /**
   * Takes the units of all quotas, or of none. All calls take them in the order of the allowances' ids: otherwise two calls
   * could each hold the units that the other one waits for.
   */
  static async take(spender: Spender, wanted: readonly WantedUnits[]): Promise<Quotas> {
    const quotas = new Quotas(spender);
    const found = await Promise.all(wanted.map(async (one) => ({ one, id: await allowanceIdOf(spender, one.quota) })));
    found.sort((a, b) => (a.id < b.id ? -1 : 1));
    try {
      for (const { one, id: allowanceId } of found)
        quotas.#taken.push({ ...(await takeUnits(spender, { allowanceId }, one.units)), wanted: one });
    } catch (error) {
      giveBack(() => quotas.giveBack());
      throw error;
    }
    return quotas;
  }

  get isEmpty(): boolean {
    return this.#taken.length === 0;
  }

  /** Returns all units. Units of a window that has ended return by themselves, so a failure does not matter. */
  async giveBack(): Promise<void> {
    await Promise.allSettled(this.#taken.map((taken) => this.#settle(taken, 0)));
  }

  /** Starts a cooldown of the quotas for everybody. If the key may only spend, only this call waits. */
  async cooldown(seconds = presetCooldownSeconds): Promise<void> {
    const { muster, insist } = this.#spender;
    const asked = Math.min(maxCooldownSeconds, Math.max(1, Math.ceil(seconds)));
    const reason = '429 from the provider';
    const begin = async ({ allowanceId }: Taken): Promise<void> => {
      try {
        await insist((options) => muster.allowance.cooldown({ allowanceId, seconds: asked, reason }, options));
      } catch (error) {
        if (!isRefusal(error, 'PERMISSION_DENIED')) throw error;
        this.restMs = asked * 1000;
      }
    };
    await Promise.all(this.#taken.map(begin));
  }

  /** Settles the units that the call has used, then reports the provider's remaining units. */
  async settle(call: ModelCall, unitsOf: (wanted: WantedUnits) => number): Promise<void> {
    const settleOne = async (taken: Taken): Promise<void> => {
      const { availableUnits } = await this.#settle(taken, unitsOf(taken.wanted));
      await this.#observe(taken, availableUnits, call);
    };
    const failed = (await Promise.allSettled(this.#taken.map(settleOne))).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  #settle({ allowanceId, waiterId: consumptionId }: Taken, units: number) {
    const { muster, settle } = this.#spender;
    return settle((options) => muster.allowance.settle({ allowanceId, consumptionId, units }, options));
  }

  /** Reports the provider's remaining units if they are 0 or fewer than the quota's. */
  async #observe({ allowanceId, wanted: { counts } }: Taken, availableUnits: number, { remaining }: ModelCall) {
    const seen = remaining[counts];
    if (!seen || (seen.units >= availableUnits && seen.units > 0)) return;
    const { units: remainingUnits, resetAt } = seen;
    if (resetAt !== undefined && resetAt.getTime() - Date.now() < staleMs) return;
    const { muster, insist } = this.#spender;
    const asked = { allowanceId, remainingUnits, ...(resetAt && { resetAt: resetAt.toISOString() }) };
    await insist((options) => muster.allowance.observe(asked, options));
  }
}
