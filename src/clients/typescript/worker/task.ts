import type { AtomicCalls } from '../generated/calls.ts';
import { giveBack, takeFor } from '../giving-back.ts';
import { jsonOf } from '../json.ts';
import { withMailbox } from '../mailbox-ids.ts';
import type { Muster } from '../muster.ts';
import type { Hold, HoldOptions, PoolRef } from '../pool.ts';
import { Run } from '../run.ts';
import { follow, onceWithin } from '../send.ts';
import type { ModelCall } from '../spend/model-call.ts';
import { type SpendOptions, spend } from '../spend/spend.ts';
import type { CallSpender } from '../spend/spender.ts';
import { type Attempt, beginAttempt } from '../tracing.ts';
import type { Answer } from '../types.ts';
import { Asked, type Asking, type AskOptions, answerOf, type GivenAnswer } from './asking.ts';
import { insist, insistBeyond } from './insist.ts';
import { Memos } from './memos.ts';
import type { MailboxRef, TaskSendFields, WorkerMessage } from './message.ts';
import { type PrerequisiteResult, resultsOf } from './results.ts';
import {
  type AllowanceRef,
  type Amount,
  type BudgetRef,
  type Reservation,
  type ReserveOptions,
  reserve,
  type Spender,
  takeUnits,
} from './spending.ts';

import {
  hasSlept,
  type JoinedSend,
  type JoinOptions,
  join,
  Suspended,
  type Suspending,
  type SuspendOptions,
} from './suspending.ts';

export type { MailboxRef, TaskSendFields, WorkerMessage } from './message.ts';

/** The services for a handler. */
export interface TaskContext {
  /** The worker's client, so that a handler needs no global one. */
  readonly muster: Muster;
  /** Aborts as soon as the claim is lost or the message cancelled, or when the worker stops before the work is done. */
  readonly signal: AbortSignal;
  /**
   * Stores a JSON value of at most 4,096 bytes with the message, for the next attempt's `message.progress`. It is sent at
   * once, but at most one per second; the last one is sent before the attempt fails or asks.
   */
  readonly progress: (value: unknown) => void;
  /** Emits the worker's `log` event. */
  readonly log: (text: string, data?: unknown) => void;
  /**
   * Sets aside money, in minor units, from a budget given by name or id. `settle` records the cost. Without it, the
   * whole amount is spent when the handler returns, and given back when it throws. An attempt after a crash finds the
   * reservation again, and lists the reservations of previous attempts in `earlier`; with `settleBy` and `onOverdue:
   * 'SETTLE'`, money that a dead attempt may have spent is settled by then. Like `settle` and `units`, it waits out an
   * outage while the claim lasts.
   */
  readonly reserve: (budget: BudgetRef, amountMinor: Amount, options?: ReserveOptions) => Promise<Reservation>;
  /** Takes units of an allowance, given by name or id; waits in line until they are granted. */
  readonly units: (allowance: AllowanceRef, units?: number) => Promise<void>;
  /**
   * Sends a message in this message's run: `await task.send('chapters', { text }, { workKey: message.id })`. It continues the
   * trace of this message, and waits out an outage while the claim lasts. Another attempt sends again, unless it has the same
   * `workKey`.
   */
  readonly send: (mailbox: MailboxRef, payload: unknown, fields?: TaskSendFields) => Promise<Answer<'message.send'>>;
  /**
   * Like `muster.pool(pool).hold`, for this message: the hold belongs to its run, and ends with the claim. Waiting messages of
   * one worker don't wait for one another.
   */
  readonly hold: <T>(pool: PoolRef, body: (hold: Hold) => Promise<T> | T, options?: HoldOptions) => Promise<T>;
  /** Like `muster.spend`, for this message. `call.earlier` finds the reservations of its earlier attempts. */
  readonly spend: <T>(options: SpendOptions, work: (call: ModelCall) => Promise<T>) => Promise<T>;
  /**
   * Does a step once for all attempts. Its JSON value is stored with the run, under a key of this message, and later attempts
   * get it without repeating the step. It can be stored only while the claim lasts (else ClaimLost), and is kept until the
   * message is completed. External effects of the step may still happen twice if the process dies during it.
   */
  readonly once: <Value>(key: string, step: () => Value | Promise<Value>) => Promise<Value>;
  /**
   * Completes the message with this result together with the calls of `plan`, all or none: `return task.finish(result, (t) =>
   * { t.message.send({ … }); })`. If one of them is refused, the message is given back as for any error. The handler must
   * return it.
   */
  readonly finish: <Value>(result: Value, plan: (t: AtomicCalls) => unknown) => Value;
  /** The message's run. `run.note(key)` is a value that its agents share; it can be put only while the claim lasts. */
  readonly run: Run;
  /**
   * Asks a person or another program, and ends this attempt without counting it: nobody holds the message until there is an
   * answer. The next attempt begins with `answer`: `const { value } = task.answer ?? (await task.ask('Publish?', { options:
   * ['yes', 'no'] }));`
   */
  readonly ask: (question: unknown, options?: AskOptions) => Promise<never>;
  /** The answer to the message's last question; null if it has asked none. */
  readonly answer: GivenAnswer | null;
  /**
   * Ends this attempt without counting it: nobody holds the message until the messages, groups and runs in `after` have ended, a
   * `note` has changed or `delaySeconds` have passed; all of that, or with `any` one thing. The next attempt starts the handler
   * anew, with `message.suspension`; `once` keeps its values.
   */
  readonly suspend: (until: SuspendOptions) => Promise<never>;
  /**
   * Sleeps without a worker, once for this name: the attempt ends, and the next one starts the handler anew when the time has
   * passed, or later. Then it resolves at once.
   */
  readonly sleep: (name: string, seconds: number) => Promise<void>;
  /**
   * Sends messages, at most 50, and waits until all have ended: `const pages = await task.join('pages', urls.map((url) => ({
   * mailbox: 'pages', payload: url })))`. Nobody holds this message meanwhile: the attempt ends, in one atomic step with the
   * sends, and the next one starts the handler anew. Then it resolves with the results, in order. Each name is a join of its
   * own, and sends its messages once, whatever fails.
   *
   * @throws {JoinFailed} if a message did not come out ACKED, or the join's `timeoutSeconds` have passed
   */
  readonly join: <Result = unknown>(
    name: string,
    sends: readonly JoinedSend[],
    options?: JoinOptions,
  ) => Promise<readonly Result[]>;
  /** Fetches the results of the message's prerequisites (`message.after`), in order. */
  readonly results: <Result = unknown>() => Promise<PrerequisiteResult<Result>[]>;
}

/** Notifications of a task to its worker. */
export interface TaskListener {
  progressed(): void;
  logged(text: string, data: unknown): void;
  /** A reservation could not be settled. The work is completed nevertheless. */
  unsettled(error: unknown): void;
  /** A reservation was made after the attempt had ended. */
  reservedLate(): Promise<void>;
}

/** A claimed message being worked on. */
export class Task<Payload = unknown, Result = unknown> {
  readonly message: WorkerMessage<Payload, Result>;
  readonly context: TaskContext;
  readonly reservations: Reservation[] = [];
  /** Whether a model call of this attempt has cost something. */
  hasSpent = false;
  readonly memos: Memos;
  /** The calls to make with its completion. */
  plan: ((t: AtomicCalls) => unknown) | undefined;
  readonly attempt: Attempt;
  readonly listener: TaskListener;
  /** In performance.now() time, like the next three. */
  readonly receivedAt = performance.now();
  /** The end of the attempt's time; Infinity without a limit. */
  readonly attemptEndsAt: number;
  leaseEndsAt = 0;
  renewAt = 0;
  /** The renewal in flight; never rejects. It restores `progress` if it could not be sent. */
  renewal: Promise<void> | undefined;
  /** The handler's question, which ends this attempt whatever the handler does afterwards. */
  asking: Asking | undefined;
  /** What the handler waits for, which ends this attempt like a question. */
  suspending: Suspending | undefined;
  /** The handler is done, and the end has not been sent. */
  isEnding = false;
  /** The end of the attempt, once the handler is done or the worker gives the message back. */
  ending: Promise<void> | undefined;
  /** The claim has ended or the message was given back, so the handler has no further effect. */
  isOver = false;
  /** Not sent yet. */
  progress: { readonly value: unknown } | undefined;
  progressAt = Number.NEGATIVE_INFINITY;
  readonly #abort = new AbortController();

  constructor(
    message: WorkerMessage<Payload, Result>,
    worker: Pick<Spender, 'holder'> & { readonly muster: Muster },
    listener: TaskListener,
  ) {
    this.message = message;
    this.attempt = beginAttempt(message);
    this.listener = listener;
    const { signal } = this.#abort;
    const { id, token, scopeId, attempt, claimedAt, leaseSeconds, attemptEndsAt } = message;
    const limitMs = attemptEndsAt ? Date.parse(attemptEndsAt) - Date.parse(claimedAt ?? '') : undefined;
    this.attemptEndsAt = limitMs === undefined ? Number.POSITIVE_INFINITY : this.receivedAt + limitMs;
    const timeoutMs = Math.floor((leaseSeconds * 1000) / 3);
    const spender: Spender = {
      ...{ ...worker, scopeId, workId: id, attempt, claimedAt, signal },
      isLost: () => signal.aborted,
      insist: (call) => {
        const idempotencyKey = crypto.randomUUID();
        return insist(this, () => call({ ...onceWithin(timeoutMs), idempotencyKey }));
      },
      settle: (call) => {
        const idempotencyKey = crypto.randomUUID();
        const once = () => call({ ...onceWithin(timeoutMs), idempotencyKey });
        return insistBeyond(this, once, () => call({ idempotencyKey }));
      },
    };
    let calls = 0;
    const callSpender: CallSpender = {
      ...{ ...spender, workName: id, attemptName: `${id}/${claimedAt}`, since: message.createdAt },
      nextNumber: () => ++calls,
      // The store's time, as the claim was made just before it was received.
      now: async () => Date.parse(claimedAt ?? '') + performance.now() - this.receivedAt,
      spent: () => {
        this.hasSpent = true;
      },
    };
    const { muster } = worker;
    const run = new Run(muster, scopeId, { muster, fence: { messageId: id, token }, call: spender.insist, signal });
    this.memos = new Memos(run, id);
    let reserveCalls = 0;
    this.context = {
      muster,
      signal,
      send: async (mailbox, payload, fields) => {
        signal.throwIfAborted();
        const { traceContext } = this.attempt;
        const sendTo = (mailboxId: string) => {
          const asked = { scopeId, ...fields, mailboxId, payload };
          return spender.insist((options) => muster.message.send(asked, { ...options, ...traceContext }));
        };
        if (typeof mailbox === 'object' && 'mailboxId' in mailbox) return sendTo(mailbox.mailboxId);
        return withMailbox(muster, typeof mailbox === 'string' ? { name: mailbox } : mailbox, sendTo, spender.insist);
      },
      hold: async (pool, body, { signal: given, ...options } = {}) => {
        signal.throwIfAborted();
        const over = new AbortController();
        const stay = [signal, given].map((one) => follow(one, () => over.abort(one?.reason)));
        // A session for each message: those of a worker that wait would otherwise seem to wait for themselves.
        const ours = { scopeId, holder: worker.holder, holderSession: id, ...options, signal: over.signal };
        return muster
          .pool(pool)
          .hold(body, ours)
          .finally(() => stay.forEach((leave) => void leave()));
      },
      progress: (value) => {
        // A value that cannot be sent is the handler's error.
        const text = jsonOf(value);
        if (text === undefined) throw new TypeError('progress takes a JSON value');
        if (this.isOver) return;
        // A copy, because the handler may change the value before it is sent.
        this.progress = { value: JSON.parse(text) };
        listener.progressed();
      },
      log: (text, data) => listener.logged(text, data),
      reserve: async (budget, amountMinor, options) => {
        signal.throwIfAborted();
        const workId = `${id}/${++reserveCalls}`;
        const make = () => reserve({ ...spender, workId }, budget, amountMinor, options);
        const reservation = await takeFor(signal, make, (late) => this.#leave(late));
        // The handler has ended without waiting for it.
        if (this.ending) giveBack(() => this.#leave(reservation));
        else this.reservations.push(reservation);
        return reservation;
      },
      units: async (allowance, units = 1) => {
        signal.throwIfAborted();
        await takeUnits(spender, allowance, units);
      },
      spend: (options, work) => spend(callSpender, options, work),
      once: async (key, step) => {
        signal.throwIfAborted();
        return this.memos.once(key, step);
      },
      finish: (result, plan) => {
        this.plan = plan;
        return result;
      },
      run,
      ask: (question, options = {}) => {
        signal.throwIfAborted();
        if (jsonOf(question) === undefined) throw new TypeError('ask takes a JSON value');
        this.asking = { question, ...options };
        const asked = Promise.reject<never>(new Asked());
        // A handler that does not await it must not end the process with an unhandled rejection.
        asked.catch(() => undefined);
        return asked;
      },
      answer: answerOf(message),
      suspend: (options) => this.#suspend({ options }),
      sleep: async (name, seconds) => {
        signal.throwIfAborted();
        if (!(seconds >= 0)) throw new RangeError('sleep takes a number of seconds');
        const until = await this.memos.once(`sleep:${name}`, async () => (await callSpender.now()) + 1000 * seconds);
        const leftMs = until - (await callSpender.now());
        // By the store's clock it is over: a later attempt need not look at this process's clock again.
        if (leftMs > 0 && hasSlept(message, until)) await this.memos.replace(`sleep:${name}`, 0);
        else if (leftMs > 0) await this.#suspend({ options: { delaySeconds: Math.ceil(leftMs / 1000) } });
      },
      join: async (name, sends, options = {}) => {
        signal.throwIfAborted();
        return join(
          { message, muster, insist: spender.insist, memos: this.memos, suspend: (one) => this.#suspend(one) },
          name,
          sends,
          options,
        );
      },
      results: <Value>() => resultsOf(spender, message.after) as Promise<PrerequisiteResult<Value>[]>,
    };
  }

  #suspend(suspending: Suspending): Promise<never> {
    this.#abort.signal.throwIfAborted();
    this.suspending = suspending;
    const suspended = Promise.reject<never>(new Suspended());
    // A handler that does not await it must not end the process with an unhandled rejection.
    suspended.catch(() => undefined);
    return suspended;
  }

  /** Leaves a reservation that the handler did not wait for to the next attempt, or voids it if there will be none. */
  async #leave(reservation: Reservation): Promise<void> {
    await this.ending?.catch(() => undefined);
    this.reservations.push(reservation);
    await this.listener.reservedLate();
  }

  /** Ends the task's right to continue. */
  end(reason?: Error): void {
    this.isOver = true;
    this.#abort.abort(reason);
  }

  /** Counts the lease from this time. */
  leasedFrom(moment: number): void {
    const leaseMs = this.message.leaseSeconds * 1000;
    this.leaseEndsAt = Math.min(moment + leaseMs, this.attemptEndsAt);
    this.renewAt = moment + leaseMs / 3;
  }
}
