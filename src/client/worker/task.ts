import type { Answer, OneOf, Typed } from '../types.ts';
import { type AllowanceRef, type BudgetRef, type Hold, reserve, type Spender, takeUnits } from './spending.ts';

/** A message as a worker's handler gets it, with its payload and its earlier results of these types. */
export type WorkerMessage<Payload = unknown, Result = unknown> = Typed<
  NonNullable<OneOf<Answer<'message.recv'>>>,
  Payload,
  Result
>;

/** What a handler can do besides its work. */
export interface TaskContext {
  /** Aborts the moment the claim is lost or cancelled, and when the worker stops before the work is done. */
  readonly signal: AbortSignal;
  /**
   * Keeps a JSON value of at most 4,096 bytes with the message: the next attempt finds it in `message.progress`. Goes out
   * at once, at most one a second; the last one always does.
   */
  readonly progress: (value: unknown) => void;
  /** Says something: the worker's `log` event. */
  readonly log: (text: string, data?: unknown) => void;
  /**
   * Sets money aside, in minor units, from a budget given by name or id. `settle` says what it cost; if the handler does
   * not, the whole is spent when it returns and given back when it throws. An attempt after a crash finds it again.
   */
  readonly reserve: (budget: BudgetRef, amountMinor: string | bigint | number) => Promise<Hold>;
  /** Takes units of an allowance, given by name or id; waits in line until they are granted. */
  readonly units: (allowance: AllowanceRef, units?: number) => Promise<void>;
}

/** What a task tells its worker. */
export interface TaskListener {
  progressed(): void;
  logged(text: string, data: unknown): void;
}

/** A claimed message in work. */
export class Task<Payload = unknown, Result = unknown> {
  readonly message: WorkerMessage<Payload, Result>;
  readonly context: TaskContext;
  readonly holds: Hold[] = [];
  /** By performance.now(), as the two that follow. */
  readonly receivedAt = performance.now();
  leaseEndsAt = 0;
  renewAt = 0;
  /** In flight; never rejects. Puts `progress` back if it could not be sent. */
  renewal: Promise<void> | undefined;
  /** The claim is over, or the message was given back: what the handler does now has no effect. */
  isOver = false;
  /** Not sent yet. */
  progress: { readonly value: unknown } | undefined;
  progressAt = Number.NEGATIVE_INFINITY;
  readonly #abort = new AbortController();

  constructor(
    message: WorkerMessage<Payload, Result>,
    spender: Omit<Spender, 'workId' | 'scopeId'>,
    listener: TaskListener,
  ) {
    this.message = message;
    const { signal } = this.#abort;
    const { id, scopeId } = message;
    let holds = 0;
    this.context = {
      signal,
      progress: (value) => {
        // What cannot be sent is the handler's error.
        if (JSON.stringify(value) === undefined) throw new TypeError('progress takes a JSON value');
        if (this.isOver) return;
        this.progress = { value };
        listener.progressed();
      },
      log: (text, data) => listener.logged(text, data),
      reserve: async (budget, amountMinor) => {
        signal.throwIfAborted();
        const hold = await reserve({ ...spender, scopeId, workId: `${id}/${++holds}` }, budget, amountMinor);
        this.holds.push(hold);
        return hold;
      },
      units: (allowance, units = 1) => takeUnits({ ...spender, scopeId, workId: id }, allowance, units, signal),
    };
  }

  /** Ends its right to go on. */
  end(reason?: Error): void {
    this.isOver = true;
    this.#abort.abort(reason);
  }

  /** Counts the lease from a moment. */
  leasedFrom(moment: number): void {
    const leaseMs = this.message.leaseSeconds * 1000;
    this.leaseEndsAt = moment + leaseMs;
    this.renewAt = moment + leaseMs / 3;
  }
}
