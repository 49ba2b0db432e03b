import { isRefusal } from '../error.ts';
import { giveBack, takeFor } from '../giving-back.ts';
import { pause } from '../send.ts';
import { type AllowanceRef, type Amount, type BudgetRef, budgetIdOf, reserveOwn } from '../worker/spending.ts';
import { earlierOf } from './earlier.ts';
import { ModelCall, wholeMinor } from './model-call.ts';
import { amountOf, type Knowledge, knowledgeOf, type OnUnknown } from './outcome.ts';
import { Quotas, type SpendQuota, type WantedUnits } from './quotas.ts';
import { type Counted, knownProviders, type ProviderHeaders } from './rate-limits.ts';
import type { CallSpender } from './spender.ts';
import { tokensOf, type Usage } from './usage.ts';

/** The budget and quotas of a model call, and the most it may use. */
export interface SpendOptions {
  /** The budget that pays for it. */
  readonly budget?: BudgetRef;
  /** The allowance that represents the provider's limit. */
  readonly quota?: AllowanceRef;
  /** What `quota` counts; default `tokens`. */
  readonly counts?: Counted;
  /** The allowances of a provider with several limits: `[{ quota: 'tpm' }, { quota: 'rpm', counts: 'requests' }]`. */
  readonly quotas?: readonly SpendQuota[];
  /** The most that the call may use: money in minor units, and units of the quota. */
  readonly estimate: { readonly amountMinor?: Amount; readonly units?: number };
  /** The cost of a usage in minor units, rounded up. Without it the whole estimate is spent, unless `call.used` reports the cost. */
  readonly price?: (usage: Usage) => Amount;
  /** The purpose of the cost. The budget shows the sums by label. */
  readonly label?: string;
  /**
   * How long the call may take; default 900. `call.signal` aborts 30 seconds earlier (after half the time, if it is 30 or
   * less). A call that has not settled by then, because its process died, is settled at its estimate by the service.
   */
  readonly maxSeconds?: number;
  /**
   * What happens to the estimate if the provider may have billed the call but nobody knows: after a time-out, an abort, or a
   * lost answer. Default `settle`: it is spent. `release` gives it back. A process that dies releases nothing.
   */
  readonly onUnknown?: OnUnknown;
  /** Maximum calls of the function while the provider answers 429; default 3. */
  readonly attempts?: number;
  /** The headers that report the providers' remaining limits; default `knownProviders`. */
  readonly providers?: readonly ProviderHeaders[];
  /** Called if a settlement failed although the call was made. Without it `spend` rejects. */
  readonly unsettled?: (error: unknown) => void;
}

const presetAttempts = 3;
const presetMaxSeconds = 900;
/** How long before `settleBy` a call is aborted, so that there is time to settle it. */
const settlingSeconds = 30;

/** How long a call may take whose reservation is settled by the service after `maxSeconds`. */
export const callMs = (maxSeconds: number): number =>
  1000 * (maxSeconds > settlingSeconds ? maxSeconds - settlingSeconds : maxSeconds / 2);

/** The units that the options ask for. */
function unitsWanted({ quota, counts = 'tokens', quotas = [], estimate }: SpendOptions): readonly WantedUnits[] {
  const all = [...(quota === undefined ? [] : [{ quota, counts, units: estimate.units }]), ...quotas];
  return all.map(({ quota, counts = 'tokens', units = counts === 'requests' ? 1 : estimate.units }) => {
    if (units === undefined) throw new TypeError('estimate.units is missing');
    return { quota, counts, units };
  });
}

/** The known cost of a call. */
function costOf({ amountMinor, usage }: ModelCall, { price }: SpendOptions): bigint | undefined {
  return amountMinor ?? (usage && price ? wholeMinor(price(usage)) : undefined);
}

/** The known units of a call. Reported units belong to the quota that counts tokens, if there are several quotas. */
function unitsOf(call: ModelCall, counts: Counted, isOnly: boolean): number | undefined {
  const { units, usage, requests } = call;
  if (units !== undefined && (isOnly || counts === 'tokens')) return units;
  return counts === 'requests' ? requests || undefined : usage && tokensOf(usage);
}

/**
 * Takes units of the quotas, then reserves money, makes a call, and settles both with the usage in the answer. Each call of
 * the function has a reservation of its own. If the provider answers 429, starts a cooldown of the quotas, waits in line
 * and tries again.
 */
export async function spend<T>(
  spender: CallSpender,
  options: SpendOptions,
  work: (call: ModelCall) => Promise<T>,
): Promise<T> {
  const { attempts = presetAttempts, unsettled } = options;
  const wanted = unitsWanted(options);
  if (options.budget !== undefined && options.estimate.amountMinor === undefined)
    throw new TypeError('estimate.amountMinor is missing');
  for (let attempt = 1, restMs = 0; ; attempt++) {
    spender.signal.throwIfAborted();
    if (restMs > 0) await pause(restMs, spender.signal);
    const one = await OneCall.begin(spender, options, wanted);
    let result: T;
    try {
      result = await work(one.call);
    } catch (error) {
      const isLast = !one.call.isLimited || one.quotas.isEmpty || attempt >= attempts || spender.signal.aborted;
      // The thrown error matters more than a failed settlement: the service settles the reservation.
      await one.settle(true).catch(() => undefined);
      if (isLast) throw error;
      restMs = one.quotas.restMs;
      continue;
    }
    try {
      await one.settle(false);
    } catch (error) {
      if (!unsettled) throw error;
      unsettled(error);
    }
    return result;
  }
}

/** One call of the function, with its units and its reservation. */
class OneCall {
  readonly call: ModelCall;
  readonly quotas: Quotas;
  readonly #spender: CallSpender;
  readonly #options: SpendOptions;
  readonly #isOnly: boolean;
  readonly #reservation: Awaited<ReturnType<typeof reserveFor>> | undefined;

  private constructor(spender: CallSpender, options: SpendOptions, isOnly: boolean, parts: Parts) {
    this.#spender = spender;
    this.#options = options;
    this.#isOnly = isOnly;
    this.quotas = parts.quotas;
    this.#reservation = parts.reservation;
    this.call = parts.call;
  }

  static async begin(spender: CallSpender, options: SpendOptions, wanted: readonly WantedUnits[]): Promise<OneCall> {
    const { budget, estimate, maxSeconds = presetMaxSeconds, providers = knownProviders } = options;
    const quotas = await Quotas.take(spender, wanted);
    const reservation = await takeFor(
      spender.signal,
      async () =>
        budget === undefined ? undefined : reserveFor(spender, budget, estimate.amountMinor ?? 0, maxSeconds),
      async (taken) => taken?.settle(0n),
    ).catch((error) => {
      giveBack(() => quotas.giveBack());
      throw error;
    });
    const call = new ModelCall({
      providers,
      limited: (seconds) => quotas.cooldown(seconds),
      earlier: async () => (budget === undefined ? [] : earlierOf(spender, await budgetIdOf(spender, budget))),
      workKey: reservation?.workKey,
      limitMs: callMs(maxSeconds) - (reservation === undefined ? 0 : performance.now() - reservation.begunAt),
    });
    return new OneCall(spender, options, wanted.length === 1, { quotas, reservation, call });
  }

  /** Books what the call has cost, and gives back the rest. */
  async settle(hasThrown: boolean): Promise<void> {
    const knowledge = knowledgeOf(this.call.ended(hasThrown));
    const steps = [this.#settleUnits(knowledge), this.#settleMoney(knowledge)];
    const failed = (await Promise.allSettled(steps)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  #settleUnits(knowledge: Knowledge): Promise<void> {
    const { onUnknown = 'settle' } = this.#options;
    return this.quotas.settle(this.call, ({ counts, units }) => {
      const known = unitsOf(this.call, counts, this.#isOnly);
      return Number(amountOf(knowledge, known === undefined ? undefined : BigInt(known), BigInt(units), onUnknown));
    });
  }

  async #settleMoney(knowledge: Knowledge): Promise<void> {
    if (!this.#reservation) return;
    const { onUnknown = 'settle', label, estimate } = this.#options;
    const most = BigInt(estimate.amountMinor ?? 0);
    let known: bigint | undefined;
    let failure: { readonly error: unknown } | undefined;
    try {
      known = costOf(this.call, this.#options);
    } catch (error) {
      // Without a price the cost is not known: the estimate is booked, and the error reported.
      failure = { error };
    }
    const cost = amountOf(knowledge, known, most, onUnknown);
    if (cost > 0n) this.#spender.spent();
    await this.#reservation.settle(cost, label);
    if (failure) throw failure.error;
  }
}

interface Parts {
  readonly quotas: Quotas;
  readonly reservation: Awaited<ReturnType<typeof reserveFor>> | undefined;
  readonly call: ModelCall;
}

/** Makes the reservation of one call of the function. begunAt: the performance.now() from which `maxSeconds` count. */
async function reserveFor(spender: CallSpender, budget: BudgetRef, amountMinor: Amount, maxSeconds: number) {
  const workKey = `${spender.attemptName}/${spender.nextNumber()}`;
  for (;;) {
    const now = await spender.now();
    const [begunAt, settleBy] = [performance.now(), now + maxSeconds * 1000];
    const asked = { amountMinor: String(amountMinor), workKey, settleBy: new Date(settleBy).toISOString() };
    try {
      return { ...(await reserveOwn(spender, budget, { ...asked, onOverdue: 'SETTLE' })), begunAt };
    } catch (error) {
      // It was refused because it has come too late, for example after an outage.
      const isLate = isRefusal(error, 'VALIDATION_FAILED') && (await spender.now()) >= settleBy;
      if (!isLate) throw error;
    }
  }
}
