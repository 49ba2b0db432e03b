import { recorded } from '../atomic.ts';
import { encodeOnce } from '../codec.ts';
import { MusterError } from '../error.ts';
import type { AtomicCalls } from '../generated/calls.ts';
import { jsonOf } from '../json.ts';
import type { Muster } from '../muster.ts';
import { onceWithin } from '../send.ts';
import type { Answer, Args, BatchedCall, CallOptions } from '../types.ts';
import type { AskedQuestion, Asking } from './asking.ts';
import { GiveUp, isShort, RetryLater, reasonOf, WorkerClosed } from './errors.ts';
import { insist } from './insist.ts';
import type { Outbox } from './outbox.ts';
import { hasLapsed, Untried } from './suspects.ts';
import type { Suspending } from './suspending.ts';
import type { Task } from './task.ts';

const maxDelaySeconds = 86_400;
/** The delay before the next attempt if a budget or quota was short and the refusal has no Retry-After. */
const shortSeconds = 30;
const maxShortSeconds = 60;
const finalStates = ['ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** Ends claims, in batches if there is an outbox. Retries as long as the claim lasts. */
export class Ends {
  readonly #muster: Muster;
  readonly #outbox: Outbox | undefined;
  readonly #timeoutMs: number;

  constructor(muster: Muster, outbox: Outbox | undefined, timeoutMs: number) {
    this.#muster = muster;
    this.#outbox = outbox;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Makes one attempt of a call, in a batch or alone. ending: the task that the call ends; isAlone: it must not share a
   * request.
   */
  once<T>(
    batched: BatchedCall<T>,
    alone: (options: CallOptions) => Promise<T>,
    ending?: Task,
    isAlone = false,
  ): Promise<T> {
    const onSent = (): void => {
      if (ending) ending.isEnding = false;
    };
    if (this.#outbox && !isAlone) return this.#outbox.send(batched, { onSent });
    onSent();
    return alone(onceWithin(this.#timeoutMs));
  }

  renew({ message: { id: messageId, token, leaseSeconds } }: Task, progress?: { readonly progress: unknown }) {
    const args = { messageId, token, leaseSeconds, ...progress };
    return this.once(this.#muster.call.message.renew(args), (options) => this.#muster.message.renew(args, options));
  }

  /** Settles the rest of the money, and completes the message. */
  async complete(task: Task, payload: unknown, resultsTo: string | undefined): Promise<void> {
    const { id: messageId, token, scopeId } = task.message;
    const json = jsonOf(payload);
    const target = resultsTo === undefined ? {} : { mailboxId: resultsTo, scopeId };
    const result = { payload, ...target };
    const args = await encodeOnce(this.#muster, { messageId, token, ...(json !== undefined && { result }) });
    // Before the money is settled: if the plan throws, the attempt has failed.
    const completing = await this.#completing(task, args);
    const refusals = await this.#settle(task);
    const idempotencyKey = crypto.randomUUID();
    const { traceContext } = task.attempt;
    const batched = this.#muster.call.message.complete(args, { idempotencyKey });
    // A published result continues the trace of its request.
    const isAlone = resultsTo !== undefined && traceContext.traceparent !== undefined;
    const alone = (options: CallOptions) =>
      this.#muster.message.complete(args, { ...options, ...traceContext, idempotencyKey });
    try {
      await insist(task, completing ?? (() => this.once(batched, alone, task, isAlone)));
    } catch (error) {
      // The first call of an atomic batch is the completion, the others are the plan's.
      const isOwn = error instanceof MusterError && (error.index ?? 0) === 0;
      throw isOwn && error.status === 413 ? tooLarge(json ?? '', error) : error;
    }
    for (const refusal of refusals) task.listener.unsettled(refusal);
  }

  /** An attempt to complete a message together with the calls of its plan; undefined if it has none. */
  async #completing(task: Task, args: Args<'message.complete'>): Promise<(() => Promise<unknown>) | undefined> {
    if (!task.plan) return undefined;
    const { plan } = task;
    const make = await recorded(this.#muster, (t) => {
      t.message.complete(args);
      plan(t);
    });
    const idempotencyKey = crypto.randomUUID();
    return () => {
      task.isEnding = false;
      const callOptions = { ...onceWithin(this.#timeoutMs), ...task.attempt.traceContext, idempotencyKey };
      return this.#muster.atomic(make, callOptions);
    };
  }

  /**
   * Deletes the stored step values of a completed message, so that a run of many messages has room for more. If a
   * deletion fails, the values are deleted with the run.
   */
  async forget({ message: { scopeId }, memos }: Task): Promise<void> {
    const deletions = [...memos.keys].map((key) => {
      const args = { scopeId, key };
      const batched = this.#muster.call.note.delete(args);
      return this.once(batched, (options) => this.#muster.note.delete(args, options)).catch(() => undefined);
    });
    await Promise.all(deletions);
  }

  /** Returns the rest of the money and asks the question, which ends the claim. */
  async ask(task: Task, { question, ...options }: Asking): Promise<AskedQuestion> {
    const { id: messageId, token } = task.message;
    const args = { messageId, token, question, ...options };
    return this.#withProgress(task, (progress) => this.#askOnce(task, { ...args, ...progress }));
  }

  async #askOnce(task: Task, args: Args<'message.ask'>): Promise<AskedQuestion> {
    const idempotencyKey = crypto.randomUUID();
    const batched = this.#muster.call.message.ask(args, { idempotencyKey });
    const alone = (options: CallOptions) => this.#muster.message.ask(args, { ...options, idempotencyKey });
    return (await insist(task, () => this.once(batched, alone, task))).question;
  }

  /** Returns the rest of the money and suspends the message, together with the sends of a join. */
  async suspend(task: Task, suspending: Suspending): Promise<Answer<'message.suspend'>> {
    return this.#withProgress(task, (progress) =>
      suspending.sends ? this.#joinOnce(task, suspending, progress) : this.#suspendOnce(task, suspending, progress),
    );
  }

  async #suspendOnce(task: Task, { options: asked }: Suspending, progress: object): Promise<Answer<'message.suspend'>> {
    const { id: messageId, token } = task.message;
    const args = { messageId, token, ...asked, ...progress };
    const idempotencyKey = crypto.randomUUID();
    const batched = this.#muster.call.message.suspend(args, { idempotencyKey });
    const alone = (options: CallOptions) => this.#muster.message.suspend(args, { ...options, idempotencyKey });
    return insist(task, () => this.once(batched, alone, task));
  }

  async #joinOnce(
    task: Task,
    { options: asked, sends = [], note }: Suspending,
    progress: object,
  ): Promise<Answer<'message.suspend'>> {
    const { id: messageId, token } = task.message;
    const plan = (t: AtomicCalls) => {
      if (note) t.note.put(note);
      const after = [...(asked.after ?? []), ...sends.map((send) => t.message.send(send))];
      return t.message.suspend({ messageId, token, ...asked, ...progress, after });
    };
    const make = await recorded(this.#muster, plan);
    const idempotencyKey = crypto.randomUUID();
    await insist(task, () => {
      task.isEnding = false;
      const callOptions = { ...onceWithin(this.#timeoutMs), ...task.attempt.traceContext, idempotencyKey };
      return this.#muster.atomic(make, callOptions);
    });
    return { id: messageId, state: 'BLOCKED', blockedBy: [] };
  }

  /** Makes a call that ends the claim. Progress goes with it, because the claim cannot be renewed afterwards. */
  async #withProgress<T>(task: Task, call: (progress: object) => Promise<T>): Promise<T> {
    await this.void(task);
    await task.renewal;
    const { progress } = task;
    task.progress = undefined;
    try {
      return await call(progress ? { progress: progress.value } : {}).catch((error) => {
        // Drop progress that is too large, as a renewal does. If something else is too large, it is refused again.
        if (progress && error instanceof MusterError && error.status === 413) return call({});
        throw error;
      });
    } catch (error) {
      task.progress ??= progress;
      throw error;
    }
  }

  /** Returns the rest of the money and gives the message back. */
  async giveBack(task: Task, error: unknown): Promise<Answer<'message.nack'>> {
    const { id: messageId, token } = task.message;
    const way = wayBack(task, error);
    await task.renewal;
    if (task.progress) await this.renew(task, { progress: task.progress.value }).catch(() => undefined);
    // While the worker closes, the handler still runs and may settle what it has spent. The next attempt gets the rest.
    if (!(error instanceof WorkerClosed)) await this.void(task);
    // The next worker must see that an attempt has ended with its lease, though this one was not tried.
    const keepsError = error instanceof Untried || (error instanceof WorkerClosed && hasLapsed(task.message));
    const args = { messageId, token, ...(!keepsError && { error: reasonOf(error) }), ...way };
    const idempotencyKey = crypto.randomUUID();
    const batched = this.#muster.call.message.nack(args, { idempotencyKey });
    return insist(task, () =>
      this.once(batched, (options) => this.#muster.message.nack(args, { ...options, idempotencyKey }), task),
    );
  }

  /** Settles open reservations. Returns refusals instead of throwing: they are no reason to repeat finished work. */
  async #settle(task: Task): Promise<readonly unknown[]> {
    const refusals: unknown[] = [];
    for (const reservation of task.reservations)
      if (reservation.isOpen)
        try {
          await reservation.settle();
        } catch (error) {
          if (task.isOver) throw error;
          refusals.push(error);
        }
    return refusals;
  }

  async void(task: Task): Promise<void> {
    for (const reservation of task.reservations) if (reservation.isOpen) await reservation.void();
  }

  /** Voids the reservations of a lost task if its message has ended. Otherwise the next attempt takes them over. */
  async voidIfEnded(task: Task): Promise<void> {
    if (!task.reservations.some(({ isOpen }) => isOpen)) return;
    const { state } = await this.#muster.message.view({ messageId: task.message.id });
    if (finalStates.includes(state)) await this.void(task);
  }
}

interface WayBack {
  readonly retry: boolean;
  readonly countsAttempt?: boolean;
  readonly delaySeconds?: number;
}

/** The options of a nack. */
function wayBack(task: Task, error: unknown): WayBack {
  if (error instanceof GiveUp) return { retry: false };
  if (error instanceof WorkerClosed) return { retry: true, countsAttempt: false };
  if (error instanceof RetryLater) {
    const delaySeconds = Math.min(maxDelaySeconds, Math.max(0, Math.ceil(error.seconds) || 0));
    return { retry: true, countsAttempt: error.countsAttempt, delaySeconds };
  }
  // An attempt that has spent something counts, so that it is not repeated endlessly.
  const hasSpent = task.hasSpent || task.reservations.some((one) => one.hasSpent);
  if (isShort(error) && !hasSpent) {
    const delaySeconds = Math.min(maxShortSeconds, error.retryAfterSeconds ?? shortSeconds);
    return { retry: true, countsAttempt: false, delaySeconds };
  }
  return { retry: true };
}

/** Another attempt would not make the value smaller. */
function tooLarge(json: string, error: MusterError): GiveUp {
  const bytes = new TextEncoder().encode(json).length;
  const [limit] = error.message.split(':');
  const [which, raise] =
    error.code === 'UNREADABLE' ? ['for a proxy', 'the limit of the proxy'] : [`(${limit})`, 'maxPayloadBytes'];
  return new GiveUp(
    `the result has ${bytes} bytes, which is too large ${which}: store it elsewhere and return where it is, ` +
      `or raise ${raise}; then requeue the message`,
    { cause: error },
  );
}
