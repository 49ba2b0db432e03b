import { isRefusal } from '../error.ts';
import { pause } from '../send.ts';
import type { CallOptions } from '../types.ts';
import {
  type AllowanceRef,
  type BudgetRef,
  type Reservation,
  reserve,
  type Spender,
  type TakenUnits,
  takeUnits,
} from '../worker/spending.ts';
import { ModelCall, wholeMinor } from './model-call.ts';
import { knownProviders, type ProviderHeaders } from './rate-limits.ts';
import { tokensOf, type Usage } from './usage.ts';

type Amount = string | bigint | number;

/** The budget and quota of a model call, and the most it may use. */
export interface SpendOptions {
  /** The budget that pays for it. */
  readonly budget?: BudgetRef;
  /** The allowance that represents the provider's limit. */
  readonly quota?: AllowanceRef;
  /** The most that the call may use: money in minor units, and units of the quota. */
  readonly estimate: { readonly amountMinor?: Amount; readonly units?: number };
  /** The cost of a usage in minor units, rounded up. Without it the whole estimate is spent, unless `call.used` reports the cost. */
  readonly price?: (usage: Usage) => Amount;
  /** What the quota counts; default `tokens`. */
  readonly counts?: 'tokens' | 'requests';
  /** The purpose of the cost. The budget shows the sums by label. */
  readonly label?: string;
  /** Maximum calls of the function while the provider answers 429; default 3. */
  readonly attempts?: number;
  /** The headers that report the providers' remaining limits; default `knownProviders`. */
  readonly providers?: readonly ProviderHeaders[];
  /** Called if a settlement failed although the call was made. Without it `spend` rejects. */
  readonly unsettled?: (error: unknown) => void;
}

/** For a spender that is not a task. */
export interface SpendFor {
  /** The run; by default one for each client. */
  readonly scopeId?: string;
  readonly holder?: string;
  /** The name of the work. After a crash, the same key continues with the work's reservation. */
  readonly workKey?: string;
  readonly signal?: AbortSignal;
}

const presetAttempts = 3;
const presetCooldownSeconds = 5;
const maxCooldownSeconds = 3600;
/** This close to a provider's reset, reported remaining units are ignored: they would be applied to the next window. */
const staleMs = 250;

/** The quota's units for one attempt. */
class Quota {
  readonly #spender: Spender;
  readonly #taken: TakenUnits;
  /** How long this call alone waits before its next attempt. */
  restMs = 0;

  constructor(spender: Spender, taken: TakenUnits) {
    this.#spender = spender;
    this.#taken = taken;
  }

  /** Starts a cooldown of the quota for everybody. If the key may only spend, only this call waits. */
  async cooldown(seconds = presetCooldownSeconds): Promise<void> {
    const { muster, insist } = this.#spender;
    const { allowanceId } = this.#taken;
    const asked = Math.min(maxCooldownSeconds, Math.max(1, Math.ceil(seconds)));
    const reason = '429 from the provider';
    try {
      await insist((options) => muster.allowance.cooldown({ allowanceId, seconds: asked, reason }, options));
    } catch (error) {
      if (!isRefusal(error, 'PERMISSION_DENIED')) throw error;
      this.restMs = asked * 1000;
    }
  }

  /** Settles the units used, then reports the provider's remaining units if they are 0 or fewer than the quota's. */
  async settle(units: number, { remaining }: ModelCall): Promise<void> {
    const { muster, insist } = this.#spender;
    const { allowanceId, waiterId: consumptionId } = this.#taken;
    const { availableUnits } = await insist((options) =>
      muster.allowance.settle({ allowanceId, consumptionId, units }, options),
    );
    const { units: remainingUnits = Number.POSITIVE_INFINITY, resetAt } = remaining ?? {};
    const isStale = resetAt !== undefined && resetAt.getTime() - Date.now() < staleMs;
    if (remainingUnits >= availableUnits && remainingUnits > 0) return;
    if (isStale || remainingUnits === Number.POSITIVE_INFINITY) return;
    const seen = { allowanceId, remainingUnits, ...(resetAt && { resetAt: resetAt.toISOString() }) };
    await insist((options) => muster.allowance.observe(seen, options));
  }
}

/** The cost of all attempts. */
function costOf(calls: readonly ModelCall[], { price }: SpendOptions): bigint | undefined {
  const costs = calls.map(
    ({ amountMinor, usage }) => amountMinor ?? (usage && price ? wholeMinor(price(usage)) : undefined),
  );
  const known = costs.filter((cost) => cost !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, cost) => sum + cost, 0n);
}

function unitsOf({ units, usage, requests }: ModelCall, { counts }: SpendOptions): number | undefined {
  if (units !== undefined) return units;
  return counts === 'requests' ? requests || undefined : usage && tokensOf(usage);
}

/**
 * Takes units of a quota and reserves money, makes a call, and settles both with the usage in the answer. If the
 * provider answers 429, starts a cooldown of the quota, waits in line and tries again.
 */
export async function spend<T>(
  spender: Spender,
  options: SpendOptions,
  work: (call: ModelCall) => Promise<T>,
  keep: (reservation: Reservation) => void = () => undefined,
): Promise<T> {
  const { budget, quota, estimate, counts = 'tokens', attempts = presetAttempts, label, unsettled } = options;
  const { amountMinor, units = counts === 'requests' ? 1 : undefined } = estimate;
  if (budget !== undefined && amountMinor === undefined) throw new TypeError('estimate.amountMinor is missing');
  if (quota !== undefined && units === undefined) throw new TypeError('estimate.units is missing');
  spender.signal.throwIfAborted();
  const money = budget === undefined ? undefined : await reserve(spender, budget, amountMinor ?? 0);
  if (money) keep(money);
  const calls: ModelCall[] = [];

  /** If the usage is unknown, a successful call has spent everything, and a failed one nothing. */
  const pay = async (hasFailed: boolean): Promise<void> => {
    const cost = costOf(calls, options) ?? (hasFailed ? 0n : undefined);
    // Once the claim is lost, what was not spent belongs to the next attempt, if there is one.
    if (cost === 0n && spender.isLost()) return;
    await money?.settle(cost, label === undefined ? {} : { label });
  };
  const settled = async (steps: readonly (Promise<void> | undefined)[]): Promise<void> => {
    const failed = (await Promise.allSettled(steps)).find((step) => step.status === 'rejected');
    if (!failed) return;
    if (!unsettled) throw failed.reason;
    unsettled(failed.reason);
  };

  let restMs = 0;
  for (let attempt = 1; ; attempt++) {
    let taken: Quota | undefined;
    try {
      spender.signal.throwIfAborted();
      if (restMs > 0) await pause(restMs, spender.signal);
      if (quota !== undefined) taken = new Quota(spender, await takeUnits(spender, quota, units ?? 0));
    } catch (error) {
      await pay(true).catch(() => undefined);
      throw error;
    }
    const call = new ModelCall(counts, options.providers ?? knownProviders, async (seconds) =>
      taken?.cooldown(seconds),
    );
    calls.push(call);
    let result: T;
    try {
      result = await work(call);
    } catch (error) {
      const isLast = !call.isLimited || !taken || attempt >= attempts || spender.signal.aborted;
      // The thrown error matters more than a failed settlement, and the reservation stays visible.
      await Promise.allSettled([taken?.settle(unitsOf(call, options) ?? 0, call), isLast ? pay(true) : undefined]);
      if (isLast) throw error;
      restMs = taken?.restMs ?? 0;
      continue;
    }
    await settled([taken?.settle(unitsOf(call, options) ?? units ?? 0, call), pay(false)]);
    return result;
  }
}

/** A spender that is not a task. Its calls are retried like any client's. */
export function spenderOf(muster: Spender['muster'], scopeId: string, given: SpendFor): Spender {
  const { signal = new AbortController().signal, holder = 'spend', workKey = crypto.randomUUID() } = given;
  const insist = <T>(call: (options: CallOptions) => Promise<T>): Promise<T> => call({});
  return {
    ...{ muster, holder, signal, isLost: () => false, insist, attempt: 1, claimedAt: null },
    ...{ scopeId: given.scopeId ?? scopeId, workId: workKey },
  };
}
