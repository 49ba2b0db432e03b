import { isRefusal, MusterError } from './error.ts';
import type { Calls } from './generated/calls.ts';
import { forgetName, idByName } from './ids.ts';
import { isPassing } from './journal.ts';
import { backoffMs, leaveMs, onceWithin, pause } from './send.ts';
import type { Answer, CallOptions } from './types.ts';
import { defaultHolder } from './worker/signals.ts';

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
  /** How long to wait for the units; 0 for not at all; default 300. */
  readonly ttlSeconds?: number;
  /** Ends the wait, and aborts the body's signal. */
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

const viewSeconds = 20;
const maxPauseMs = 2_000;
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
   * HoldLost once the body has ended.
   *
   * @throws {MusterError} POOL_EXHAUSTED if the units were not free in time, DEADLOCK if the wait would never end.
   */
  async hold<T>(body: (hold: Hold) => Promise<T> | T, options: HoldOptions = {}): Promise<T> {
    const { signal } = options;
    signal?.throwIfAborted();
    const leaseMs = (options.leaseSeconds ?? 30) * 1000;
    // Taken before the call, as the lease may have begun as soon as it was sent.
    let sentAt = performance.now();
    const { token, ...asked } = await this.#acquire(options);
    const lease = new Lease(this.#muster, asked.id, token, leaseMs);
    let record: Answer<'hold.view'> = asked;
    if (record.state === 'WAITING') {
      record = await this.#wait(record, lease, signal);
      sentAt = performance.now();
      // The lease began when the units were granted, an unknown time ago.
      await lease.renewOrRelease(signal);
    }
    const end = lease.keep(sentAt);
    const forward = (): void => lease.abort(signal?.reason);
    signal?.addEventListener('abort', forward);
    if (signal?.aborted) forward();
    const stop = (): void => {
      signal?.removeEventListener('abort', forward);
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

  async #acquire(options: HoldOptions): Promise<Answer<'pool.acquire'>> {
    const { units, scopeId = crypto.randomUUID(), holder = defaultHolder(), leaseSeconds = 30, ttlSeconds } = options;
    const { holderSession = sessionOf(this.#muster), signal } = options;
    const about = { scopeId, holder, holderSession, leaseSeconds };
    const asked = { ...about, ...(units !== undefined && { units }), ...(ttlSeconds !== undefined && { ttlSeconds }) };
    const callOptions = signal ? { signal } : {};
    for (let isAgain = false; ; isAgain = true)
      try {
        return await this.#muster.pool.acquire({ ...asked, poolId: await this.#id() }, callOptions);
      } catch (error) {
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

  async #wait(record: Answer<'hold.view'>, lease: Lease, signal?: AbortSignal): Promise<Answer<'hold.view'>> {
    const asked = { holdId: record.id, waitSeconds: viewSeconds };
    let found = record;
    try {
      while (found.state === 'WAITING') {
        found = await insist(
          (options) => this.#muster.hold.view(asked, { ...options, ...(signal && { signal }) }),
          signal,
        );
      }
    } catch (error) {
      await lease.giveUp();
      throw error;
    }
    if (found.state === 'HELD') return found;
    if (found.state === 'EXPIRED')
      throw new MusterError('POOL_EXHAUSTED', 'the units were not free within ttlSeconds: wait longer, or try later', {
        status: 429,
      });
    throw new HoldLost(`the hold is ${found.state}`);
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
  readonly #muster: Client;
  readonly #hold: { readonly holdId: string; readonly token: string };
  readonly #ms: number;
  readonly #controller = new AbortController();
  #lost: HoldLost | undefined;
  #endsAt = 0;

  constructor(muster: Client, holdId: string, token: string, ms: number) {
    this.#muster = muster;
    this.#hold = { holdId, token };
    this.#ms = ms;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Renews the lease until the returned function is called. sentAt: when the call that began the lease was sent. */
  keep(sentAt: number): () => void {
    this.#endsAt = sentAt + this.#ms;
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

  /** Renews the lease of a hold that was granted after a wait. Gives the hold up if that fails. */
  async renewOrRelease(signal?: AbortSignal): Promise<void> {
    try {
      await insist((options) => this.#muster.hold.renew(this.#hold, options), signal);
    } catch (error) {
      if (isLost(error)) throw new HoldLost(error.message, { cause: error });
      await this.giveUp();
      throw error;
    }
  }

  /** Leaves the queue, or releases the units if they were granted meanwhile. */
  async giveUp(): Promise<void> {
    const { holdId } = this.#hold;
    const options = onceWithin(leaveMs);
    const leave = (): Promise<unknown> =>
      this.#muster.hold.cancel({ holdId }, options).catch(() => this.#muster.hold.release(this.#hold, options));
    await leave().catch(() => undefined);
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
