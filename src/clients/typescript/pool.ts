import { isRefusal, MusterError } from './error.ts';
import type { Calls } from './generated/calls.ts';
import { giveBack, givenBack, takeFor } from './giving-back.ts';
import { forgetName, idByName } from './ids.ts';
import { placeUntil, waitInLine } from './in-line.ts';
import { isPassing } from './journal.ts';
import { backoffMs, follow, type OwnOptions, onceWithin, pause } from './send.ts';
import type { Answer, CallOptions } from './types.ts';
import { defaultHolder, endOnSignals, isProcessEnding } from './worker/signals.ts';

/** The calls that a pool makes. */
type Client = Pick<Calls, 'pool' | 'hold' | 'budget' | 'allowance'>;

/** A pool by its name, which is unique in its space, or by its id. */
export type PoolRef = string | { readonly poolId: string };

export interface HoldOptions {
  /** The units to hold, all or none; default 1. */
  readonly units?: number;
  /** The run that the hold belongs to; default: a run of its own. */
  readonly scopeId?: string;
  /** The holder's name; default: the names of machine and process. */
  readonly holder?: string;
  /**
   * The holder's session, by which deadlocks among the waiting holders of a run are found; default: one for each client.
   * Concurrent holds of one run need a session each, or else they seem to wait for themselves.
   */
  readonly holderSession?: string;
  /** The length of the lease: how soon others get the units if this process dies; default 30. */
  readonly leaseSeconds?: number;
  /** How long to wait for the units, Infinity included; 0 for not at all; default 300. */
  readonly ttlSeconds?: number;
  /** Ends the wait at once, and aborts the body's signal. Units granted meanwhile are given back in the background. */
  readonly signal?: AbortSignal;
}

/** Units of a pool, held while the body runs. */
export interface Hold {
  /** The hold as it was granted. */
  readonly record: Answer<'hold.view'>;
  /** Greater than every earlier holder's fence. Pass it to the protected resource, which must refuse smaller ones. */
  readonly fence: number;
  /** Aborts with HoldLost when the hold is lost, or when the `signal` of the options aborts. */
  readonly signal: AbortSignal;
}

/** The reason of a hold's `signal`: its lease has ended or somebody has released it, so others may have the units. */
export class HoldLost extends Error {
  override readonly name = 'HoldLost';
}

const maxPauseMs = 2_000;
/** Leaving may take this long at most: by then, the place in line or the lease has mostly ended by itself. */
const giveUpOptions: OwnOptions = { timeoutMs: 5_000 };
/** The least time for a release. After its lease, the hold ends by itself. */
const shortMs = 100;

const sessions = new WeakMap<Client, string>();

function sessionOf(muster: Client): string {
  const session = sessions.get(muster) ?? crypto.randomUUID();
  sessions.set(muster, session);
  return session;
}

/** A pool whose units are held while work runs: `muster.pool('deploys')`. */
export class Pool {
  readonly #muster: Client;
  readonly #ref: PoolRef;

  constructor(muster: Client, ref: PoolRef) {
    this.#muster = muster;
    this.#ref = ref;
  }

  /**
   * Runs the body while it holds units of the pool, and resolves with the body's result. Waits for the units, renews the
   * lease, and always releases them at the end. If the hold is lost, the body's `signal` aborts, and this rejects with
   * HoldLost once the body has ended. If SIGTERM or SIGINT is to end the process, as the program has no listener for it, that
   * ends the wait, or aborts the body's `signal`, first.
   *
   * @throws {MusterError} POOL_EXHAUSTED if the units were not free in time, DEADLOCK if the wait would never end.
   */
  async hold<T>(body: (hold: Hold) => Promise<T> | T, options: HoldOptions = {}): Promise<T> {
    // A process that is about to end takes nothing more, not even in a loop.
    if (isProcessEnding()) return new Promise(() => undefined);
    const over = new AbortController();
    const unfollow = follow(options.signal, () => over.abort(options.signal?.reason));
    const held = this.#hold(body, { ...options, signal: over.signal });
    const stay = endOnSignals(async (reason) => {
      over.abort(reason);
      await held.catch(() => undefined);
      await givenBack();
    });
    try {
      return await held;
    } finally {
      stay();
      unfollow();
    }
  }

  async #hold<T>(body: (hold: Hold) => Promise<T> | T, options: HoldOptions & { signal: AbortSignal }): Promise<T> {
    const { signal } = options;
    const lease = await this.#take(options);
    const { record } = lease;
    const end = lease.keep();
    const unfollow = follow(signal, () => lease.abort(signal.reason));
    const stop = (): void => {
      unfollow();
      end();
    };
    let answer: T;
    try {
      answer = await body({ record, fence: record.fence ?? 0, signal: lease.signal });
    } catch (error) {
      stop();
      // The body's error matters more.
      await lease.release().catch(() => undefined);
      throw error;
    }
    stop();
    await lease.release();
    return answer;
  }

  /** Takes the units; waits for them in line. */
  async #take(options: HoldOptions): Promise<Lease> {
    const { signal, ttlSeconds = 300 } = options;
    if (!(ttlSeconds >= 0)) throw new RangeError(`ttlSeconds is at least 0, not ${ttlSeconds}`);
    const untilMs = performance.now() + ttlSeconds * 1000;
    for (;;) {
      const lease = await takeFor(
        signal,
        () => this.#acquire(options, ttlSeconds < placeUntil(untilMs) ? ttlSeconds : placeUntil(untilMs)),
        (one) => one.giveUp(),
      );
      if (lease.record.state === 'HELD') return lease;
      try {
        if (await lease.wait(untilMs, signal)) return lease;
      } catch (error) {
        giveBack(() => lease.giveUp());
        throw error;
      }
    }
  }

  async #acquire(options: HoldOptions, ttlSeconds: number): Promise<Lease> {
    const { units = 1, scopeId = crypto.randomUUID(), holder = defaultHolder(), leaseSeconds = 30 } = options;
    const { holderSession = sessionOf(this.#muster) } = options;
    const asked = { units, scopeId, holder, holderSession, leaseSeconds, ttlSeconds };
    let hasWaited = false;
    for (let isAgain = false; ; isAgain = true)
      try {
        const poolId = await this.#id();
        options.signal?.throwIfAborted();
        // Taken before the call, as the lease may have begun as soon as it was sent.
        const sentAt = performance.now();
        return new Lease(this.#muster, await this.#muster.pool.acquire({ ...asked, poolId }), sentAt);
      } catch (error) {
        // A hold that was given up may not have been given back yet.
        if (isRefusal(error, 'DEADLOCK') && !hasWaited && !options.signal?.aborted && (await givenBack())) {
          hasWaited = true;
          continue;
        }
        // The pool may have been created again under its name.
        const isGone = isRefusal(error, 'POOL_NOT_FOUND');
        if (!isGone || isAgain || typeof this.#ref !== 'string') throw error;
        forgetName(this.#muster, 'pool', this.#ref);
      }
  }

  async #id(): Promise<string> {
    return typeof this.#ref === 'object'
      ? this.#ref.poolId
      : idByName(this.#muster, 'pool', this.#ref, (find) => find({}));
  }
}

/** Makes a call until it is answered. */
async function insist<T>(attempt: (options: CallOptions) => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let failures = 0; ; failures++)
    try {
      return await attempt({ attempts: 1 });
    } catch (error) {
      if (signal?.aborted || !isPassing(error)) throw error;
      await pause(backoffMs(failures, { maxMs: maxPauseMs }), signal);
    }
}

const isLost = (error: unknown): error is MusterError => isRefusal(error, 'CLAIM_LOST', 'HOLD_NOT_FOUND');

/**
 * The lease of a hold. It is renewed after about a third of its length, and counts as lost if no renewal was answered
 * for its whole length by the local clock.
 */
class Lease {
  /** The hold as it is known. */
  record: Answer<'hold.view'>;
  readonly #muster: Client;
  readonly #hold: { readonly holdId: string; readonly token: string };
  readonly #ms: number;
  readonly #controller = new AbortController();
  #lost: HoldLost | undefined;
  #endsAt: number;

  /** sentAt: when the call was sent that has begun the lease. */
  constructor(muster: Client, { token, ...record }: Answer<'pool.acquire'>, sentAt: number) {
    this.#muster = muster;
    this.record = record;
    this.#hold = { holdId: record.id, token };
    this.#ms = record.leaseSeconds * 1000;
    this.#endsAt = sentAt + this.#ms;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /**
   * Waits in line, and renews the lease that was begun by the grant, an unknown time ago. Resolves with false if the place in
   * line was lost before this time.
   */
  async wait(untilMs: number, signal: AbortSignal | undefined): Promise<boolean> {
    const { holdId } = this.#hold;
    const place = {
      view: (waitSeconds: number, options: CallOptions) => this.#muster.hold.view({ holdId, waitSeconds }, options),
      renew: (ttlSeconds: number, options: CallOptions) => this.#muster.hold.renew({ holdId, ttlSeconds }, options),
    };
    const { found, isLast } = await waitInLine(place, this.record, { untilMs, signal });
    this.record = found;
    if (found.state === 'EXPIRED' && !isLast) return false;
    if (found.state === 'EXPIRED')
      throw new MusterError('POOL_EXHAUSTED', 'the units were not free within ttlSeconds: wait longer, or try later', {
        status: 429,
      });
    if (found.state !== 'HELD') throw new HoldLost(`the hold is ${found.state}`);
    try {
      const sentAt = performance.now();
      await insist((options) => this.#muster.hold.renew(this.#hold, { ...options, signal }), signal);
      this.#endsAt = sentAt + this.#ms;
      return true;
    } catch (error) {
      if (isLost(error)) throw new HoldLost(error.message, { cause: error });
      throw error;
    }
  }

  /** Renews the lease until the returned function is called. */
  keep(): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const renew = async (): Promise<void> => {
      const from = performance.now();
      try {
        // Cut at the end of the lease, so that a renewal without an answer does not delay the loss.
        const withinMs = Math.min(this.#ms / 3, this.#endsAt - from);
        await this.#muster.hold.renew(this.#hold, onceWithin(Math.max(1, Math.ceil(withinMs))));
        this.#endsAt = from + this.#ms;
      } catch (error) {
        if (isOver) return;
        if (isLost(error)) this.#lose(error);
      }
      next();
    };
    const next = (): void => {
      if (isOver || this.#lost) return;
      const leftMs = this.#endsAt - performance.now();
      if (leftMs <= 0) {
        this.#lose();
        return;
      }
      const isAnswered = leftMs > (this.#ms * 2) / 3;
      timer = setTimeout(() => void renew(), isAnswered ? leftMs - (this.#ms * 2) / 3 : Math.min(leftMs, maxPauseMs));
    };
    next();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }

  #lose(cause?: unknown): void {
    const why = cause instanceof Error ? cause.message : 'its lease has ended, and no renewal was answered';
    this.#lost = new HoldLost(why, { cause });
    this.#controller.abort(this.#lost);
  }

  /** Leaves the queue, or releases the units if they were granted meanwhile. */
  async giveUp(): Promise<void> {
    const { holdId } = this.#hold;
    if (this.record.state === 'WAITING')
      try {
        await this.#muster.hold.cancel({ holdId }, giveUpOptions);
        return;
      } catch (error) {
        if (!isRefusal(error, 'HOLD_NOT_WAITING')) throw error;
      }
    await this.#muster.hold.release(this.#hold, giveUpOptions);
  }

  /** Rejects with HoldLost if others may have had the units before the body ended. */
  async release(): Promise<void> {
    if (this.#lost) throw this.#lost;
    const leftMs = Math.max(shortMs, this.#endsAt - performance.now());
    try {
      const signal = AbortSignal.timeout(Math.ceil(leftMs));
      await insist((options) => this.#muster.hold.release(this.#hold, { ...options, signal }), signal);
    } catch (error) {
      if (isLost(error)) throw new HoldLost(error.message, { cause: error });
      // Nobody answers, so the lease ends by itself.
    }
  }
}
