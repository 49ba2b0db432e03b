import type { CallOptions } from '../types.ts';
import type { Spender } from '../worker/spending.ts';

/** For a spender that is not a task. */
export interface SpendFor {
  /** The run; by default one for each client. */
  readonly scopeId?: string;
  readonly holder?: string;
  /** The name of the work. With the same name, `call.earlier` finds the reservations of earlier calls. */
  readonly workKey?: string;
  readonly signal?: AbortSignal;
}

/** A spender whose model calls have numbered reservations. */
export interface CallSpender extends Spender {
  /** The beginning of the workKeys of the work's reservations, in all attempts; undefined if it has no name. */
  readonly workName: string | undefined;
  /** The beginning of those of this attempt. */
  readonly attemptName: string;
  /** When the work began, by the store's clock; undefined if it is not known. */
  readonly since: string | undefined;
  readonly nextNumber: () => number;
  /** The store's time. The clock of this process may be wrong. */
  readonly now: () => Promise<number>;
  /** Something was spent. */
  readonly spent: () => void;
}

/** A spender that is not a task. Its calls are retried like any client's. */
export function spenderOf(
  muster: Spender['muster'],
  scopeId: string,
  { signal = new AbortController().signal, holder = 'spend', ...given }: SpendFor,
  now: () => Promise<number> = async () => Date.now(),
): CallSpender {
  const insist = <T>(call: (options: CallOptions) => Promise<T>): Promise<T> => call({});
  const attemptId = crypto.randomUUID();
  let number = 0;
  return {
    ...{ muster, holder, signal, isLost: () => false, insist, settle: insist, attempt: 1, claimedAt: null },
    ...{ scopeId: given.scopeId ?? scopeId, workId: given.workKey ?? attemptId, workName: given.workKey },
    attemptName: given.workKey === undefined ? attemptId : `${given.workKey}/${attemptId}`,
    since: undefined,
    nextNumber: () => ++number,
    now,
    spent: () => undefined,
  };
}
