import type { AtomicCalls } from '../generated/calls.ts';
import { Run } from '../run.ts';
import type { ModelCall } from '../spend/model-call.ts';
import { type SpendOptions, spend } from '../spend/spend.ts';
import { type Attempt, beginAttempt } from '../tracing.ts';
import type { Answer, OneOf, Typed } from '../types.ts';
import { Asked, type Asking, type AskOptions, answerOf, type GivenAnswer } from './asking.ts';
import { insist } from './insist.ts';
import { Memos } from './memos.ts';
import { type PrerequisiteResult, resultsOf } from './results.ts';
import { type AllowanceRef, type BudgetRef, type Reservation, reserve, type Spender, takeUnits } from './spending.ts';

/** A message as a worker's handler gets it, with its payload and its earlier results of these types. */
export type WorkerMessage<Payload = unknown, Result = unknown> = Typed<
  NonNullable<OneOf<Answer<'message.recv'>>>,
  Payload,
  Result
>;

/** The services for a handler. */
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
   * not, the whole is spent when it returns and given back when it throws. An attempt after a crash finds it again, and in
   * `earlier` what the attempts before it had reserved. As `settle` and `units` it waits out an outage while the claim lasts.
   */
  readonly reserve: (budget: BudgetRef, amountMinor: string | bigint | number) => Promise<Reservation>;
  /** Takes units of an allowance, given by name or id; waits in line until they are granted. */
  readonly units: (allowance: AllowanceRef, units?: number) => Promise<void>;
  /** As `muster.spend`, for this message: an attempt after a crash goes on with what was reserved. */
  readonly spend: <T>(options: SpendOptions, work: (call: ModelCall) => Promise<T>) => Promise<T>;
  /**
   * Does a step once, whatever becomes of this attempt: its JSON value is kept with the run, under a key of the message's own,
   * and later attempts get it without doing the step again. Kept only while the claim lasts (else ClaimLost), until the
   * message is completed. What the step does outside may still happen twice if the process dies in the midst of it.
   */
  readonly once: <Value>(key: string, step: () => Value | Promise<Value>) => Promise<Value>;
  /**
   * Has the message completed with this result and the calls of `plan` made in one step, all or none:
   * `return task.finish(result, (t) => { t.message.send({ … }); })`. If one of them is refused, the message is given back as for
   * any error. To be returned by the handler.
   */
  readonly finish: <Value>(result: Value, plan: (t: AtomicCalls) => unknown) => Value;
  /** The message's run: `run.note(key)` are values that its agents share; they are put only while the claim lasts. */
  readonly run: Run;
  /**
   * Asks a person, or another program, and ends this attempt, which does not count: nobody holds the message until somebody
   * has answered. The next attempt begins with `answer`:
   * `const { value } = task.answer ?? (await task.ask('Publish?', { options: ['yes', 'no'] }));`
   */
  readonly ask: (question: unknown, options?: AskOptions) => Promise<never>;
  /** The answer to the last question that the message has asked; null: it has asked none. */
  readonly answer: GivenAnswer | null;
  /** Fetches what the messages and groups that the message is after (`message.after`) have left, in their order. */
  readonly results: <Result = unknown>() => Promise<PrerequisiteResult<Result>[]>;
}

/** Notifications of a task to its worker. */
export interface TaskListener {
  progressed(): void;
  logged(text: string, data: unknown): void;
  /** A reservation could not be settled; the work is completed all the same. */
  unsettled(error: unknown): void;
}

/** A claimed message in work. */
export class Task<Payload = unknown, Result = unknown> {
  readonly message: WorkerMessage<Payload, Result>;
  readonly context: TaskContext;
  readonly reservations: Reservation[] = [];
  readonly memos: Memos;
  /** The calls that belong to its completion. */
  plan: ((t: AtomicCalls) => unknown) | undefined;
  readonly attempt: Attempt;
  readonly listener: TaskListener;
  /** By performance.now(), as the two that follow. */
  readonly receivedAt = performance.now();
  leaseEndsAt = 0;
  renewAt = 0;
  /** In flight; never rejects. Puts `progress` back if it could not be sent. */
  renewal: Promise<void> | undefined;
  /** What the handler asks: this attempt ends with it, whatever the handler does after that. */
  asking: Asking | undefined;
  /** The handler is done with it, and its end has not been sent. */
  isEnding = false;
  /** The claim is over, or the message was given back: what the handler does now has no effect. */
  isOver = false;
  /** Not sent yet. */
  progress: { readonly value: unknown } | undefined;
  progressAt = Number.NEGATIVE_INFINITY;
  readonly #abort = new AbortController();

  constructor(
    message: WorkerMessage<Payload, Result>,
    worker: Pick<Spender, 'muster' | 'holder'>,
    listener: TaskListener,
  ) {
    this.message = message;
    this.attempt = beginAttempt(message);
    this.listener = listener;
    const { signal } = this.#abort;
    const { id, token, scopeId, attempt, claimedAt, leaseSeconds } = message;
    const spender: Omit<Spender, 'workId'> = {
      ...{ ...worker, scopeId, attempt, claimedAt, signal },
      insist: (call) => {
        const idempotencyKey = crypto.randomUUID();
        const timeoutMs = Math.floor((leaseSeconds * 1000) / 3);
        return insist(this, () => call({ attempts: 1, idempotencyKey, signal: AbortSignal.timeout(timeoutMs) }));
      },
    };
    const { muster } = worker;
    const run = new Run(muster, scopeId, { muster, fence: { messageId: id, token }, call: spender.insist, signal });
    this.memos = new Memos(run, id);
    let reserveCalls = 0;
    this.context = {
      signal,
      progress: (value) => {
        // A payload that cannot be sent is the handler's error.
        if (JSON.stringify(value) === undefined) throw new TypeError('progress takes a JSON value');
        if (this.isOver) return;
        this.progress = { value };
        listener.progressed();
      },
      log: (text, data) => listener.logged(text, data),
      reserve: async (budget, amountMinor) => {
        signal.throwIfAborted();
        const reservation = await reserve({ ...spender, workId: `${id}/${++reserveCalls}` }, budget, amountMinor);
        this.reservations.push(reservation);
        return reservation;
      },
      units: async (allowance, units = 1) => {
        await takeUnits({ ...spender, workId: id }, allowance, units);
      },
      spend: (options, work) => {
        signal.throwIfAborted();
        const keep = (reservation: Reservation) => void this.reservations.push(reservation);
        return spend({ ...spender, workId: `${id}/${++reserveCalls}` }, options, work, keep);
      },
      once: async (key, step) => {
        signal.throwIfAborted();
        return this.memos.once(key, step);
      },
      finish: (result, plan) => {
        this.plan = plan;
        return result;
      },
      run,
      ask: async (question, options = {}) => {
        signal.throwIfAborted();
        if (JSON.stringify(question) === undefined) throw new TypeError('ask takes a JSON value');
        this.asking = { question, ...options };
        throw new Asked();
      },
      answer: answerOf(message),
      results: <Value>() => resultsOf(spender, message.after) as Promise<PrerequisiteResult<Value>[]>,
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
