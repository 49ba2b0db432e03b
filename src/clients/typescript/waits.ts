import { MusterError } from './error.ts';
import type { Calls } from './generated/calls.ts';
import { isPassing } from './journal.ts';
import { backoffMs, follow, maxTimerMs, pause } from './send.ts';
import type { Answer, Args, CallOptions, Typed } from './types.ts';

/** Options of a wait. It goes on across time-outs and lost connections. */
export interface WaitOptions {
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
  /** The most that it may take; then it rejects with a TimeoutError. Default: no limit. */
  readonly maxSeconds?: number | undefined;
}

const waitSeconds = 20;
const maxPauseMs = 2_000;
const maxAskedSeconds = 60;
/** The pause if a server answers held calls at once, for example because it is stopping. */
const earlyPauseMs = 500;

type View<T> = (options: CallOptions & { readonly waitSeconds: number }) => Promise<T>;

/** Runs a wait with a signal that aborts with that of its options, or when the time is up. */
export async function bounded<T>(
  { signal, maxSeconds }: WaitOptions,
  wait: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const leave = follow(signal, () => over.abort(signal?.reason));
  const late = () => over.abort(new DOMException(`it has not ended within ${maxSeconds} s`, 'TimeoutError'));
  const timer = maxSeconds === undefined ? undefined : setTimeout(late, Math.min(maxSeconds * 1000, maxTimerMs));
  try {
    over.signal.throwIfAborted();
    return await wait(over.signal);
  } finally {
    clearTimeout(timer);
    leave();
  }
}

/**
 * Repeats a read that is held at the server until it answers the end. The first read is made like any call; once it was
 * answered, the wait goes on however long the service is away.
 */
export async function untilOver<T>(view: View<T>, isOver: (found: T) => boolean, signal: AbortSignal): Promise<T> {
  let [isAnswered, failures] = [false, 0];
  for (;;) {
    signal.throwIfAborted();
    const askedAt = performance.now();
    try {
      const found = await view({ waitSeconds, signal, ...(isAnswered && { attempts: 1 }) });
      if (isOver(found)) return found;
      [isAnswered, failures] = [true, 0];
      if (performance.now() - askedAt < earlyPauseMs) await pause(earlyPauseMs, signal);
    } catch (error) {
      if (signal.aborted || !isAnswered || !isPassing(error)) throw error;
      const askedMs = error instanceof MusterError ? Math.min(maxAskedSeconds, error.retryAfterSeconds ?? 0) * 1000 : 0;
      await pause(backoffMs(failures++, { maxMs: maxPauseMs, minMs: askedMs }), signal);
    }
  }
}

/** Waits for a run. */
export interface ScopeWaits {
  /**
   * Waits until nothing is live in a scope and those below it, cancelled or not: no message that is not finished, and nobody
   * in line for units. Resolves with the scope.
   *
   * @throws {MusterError} SCOPE_NOT_FOUND if the scope was never used
   */
  waitIdle(args: Pick<Args<'scope.view'>, 'scopeId'>, options?: WaitOptions): Promise<Answer<'scope.view'>>;
}

/** Waits at a barrier. */
export interface BarrierWaits {
  /**
   * Arrives, and waits until the epoch is released. Resolves with the barrier, which may be in a later epoch by then. Again
   * with the same `arrivalKey`, it only waits.
   *
   * @throws {MusterError} BARRIER_CANCELLED if the barrier is cancelled meanwhile; EPOCH_MISMATCH, or another refusal
   */
  arriveAndWait(args: Args<'barrier.arrive'>, options?: WaitOptions): Promise<Answer<'barrier.view'>>;
}

/** Waits for a group. */
export interface GroupWaits {
  /**
   * Waits until a group is decided, and resolves with it.
   *
   * @throws {MusterError} GROUP_NOT_FOUND, or another refusal of a read
   */
  waitDecided<Result = unknown>(
    args: Pick<Args<'group.view'>, 'groupId'>,
    options?: WaitOptions,
  ): Promise<Typed<Answer<'group.view'>, unknown, Result>>;
}

/** The waits of a client, by primitive. */
export function waitsOf(muster: Pick<Calls, 'scope' | 'barrier' | 'group'>): {
  readonly scope: ScopeWaits;
  readonly barrier: BarrierWaits;
  readonly group: GroupWaits;
} {
  return {
    scope: {
      waitIdle: ({ scopeId }, options = {}) =>
        bounded(options, (signal) =>
          untilOver(
            ({ waitSeconds, ...callOptions }) => muster.scope.view({ scopeId, waitSeconds }, callOptions),
            ({ live }) => live.messages + live.waiters === 0,
            signal,
          ),
        ),
    },
    barrier: {
      arriveAndWait: (args, options = {}) =>
        bounded(options, async (signal) => {
          const { barrierId } = args;
          const arrived = await muster.barrier.arrive(args, { signal });
          const { epoch } = arrived;
          const isOver = ({ epoch: current, state }: Answer<'barrier.view'>) => current > epoch || state !== 'OPEN';
          const found = isOver(arrived)
            ? arrived
            : await untilOver(
                ({ waitSeconds, ...callOptions }) =>
                  muster.barrier.view({ barrierId, epoch, waitSeconds }, callOptions),
                isOver,
                signal,
              );
          if (found.epoch === epoch && found.state === 'CANCELLED')
            throw new MusterError('BARRIER_CANCELLED', `the barrier ${barrierId} was cancelled in epoch ${epoch}`, {
              status: 409,
            });
          return found;
        }),
    },
    group: {
      waitDecided: <Result>({ groupId }: Pick<Args<'group.view'>, 'groupId'>, options: WaitOptions = {}) =>
        bounded(options, (signal) =>
          untilOver(
            ({ waitSeconds, ...callOptions }) => muster.group.view<Result>({ groupId, waitSeconds }, callOptions),
            ({ state }) => state === 'DECIDED',
            signal,
          ),
        ),
    },
  };
}
