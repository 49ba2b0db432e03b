import type { Muster } from '../muster.ts';
import type { Answer, BatchedCall, CallOptions } from '../types.ts';
import { GiveUp, RetryLater, reasonOf, WorkerClosed } from './errors.ts';
import { insist } from './insist.ts';
import type { Outbox } from './outbox.ts';
import type { Task } from './task.ts';

const maxDelaySeconds = 86_400;
const finalStates = ['ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** Ends claims, in batches where there is an outbox; tries again as long as the claim lasts. */
export class Ends {
  readonly #muster: Muster;
  readonly #outbox: Outbox | undefined;
  readonly #timeoutMs: number;

  constructor(muster: Muster, outbox: Outbox | undefined, timeoutMs: number) {
    this.#muster = muster;
    this.#outbox = outbox;
    this.#timeoutMs = timeoutMs;
  }

  /** One attempt of a call, in a batch or by itself. */
  once<T>(batched: BatchedCall<T>, alone: (options: CallOptions) => Promise<T>): Promise<T> {
    if (this.#outbox) return this.#outbox.send(batched);
    return alone({ attempts: 1, signal: AbortSignal.timeout(this.#timeoutMs) });
  }

  renew({ message: { id: messageId, token, leaseSeconds } }: Task, progress?: { readonly progress: unknown }) {
    const args = { messageId, token, leaseSeconds, ...progress };
    return this.once(this.#muster.call.message.renew(args), (options) => this.#muster.message.renew(args, options));
  }

  /** Settles what is left of the money, and completes. */
  async complete(task: Task, payload: unknown, resultsTo: string | undefined): Promise<void> {
    const { id: messageId, token, scopeId } = task.message;
    const json = JSON.stringify(payload);
    const target = resultsTo === undefined ? {} : { mailboxId: resultsTo, scopeId };
    const args = { messageId, token, ...(json !== undefined && { result: { payload, ...target } }) };
    const refusals = await this.#settle(task);
    const idempotencyKey = crypto.randomUUID();
    const { message } = this.#muster.call;
    const batched = message.complete(args, { idempotencyKey });
    await insist(task, () =>
      this.once(batched, (options) => this.#muster.message.complete(args, { ...options, idempotencyKey })),
    );
    for (const refusal of refusals) task.listener.unsettled(refusal);
  }

  /** Gives back what is left of the money, and the message. */
  async giveBack(task: Task, error: unknown): Promise<Answer<'message.nack'>> {
    const { id: messageId, token } = task.message;
    await task.renewal;
    if (task.progress) await this.renew(task, { progress: task.progress.value }).catch(() => undefined);
    await this.void(task);
    const later = error instanceof RetryLater ? error.seconds : error instanceof WorkerClosed ? 0 : undefined;
    const delaySeconds = later === undefined ? undefined : Math.min(maxDelaySeconds, Math.max(0, Math.ceil(later)));
    const retry = !(error instanceof GiveUp);
    const args = {
      messageId,
      token,
      retry,
      error: reasonOf(error),
      ...(delaySeconds !== undefined && { delaySeconds }),
    };
    const idempotencyKey = crypto.randomUUID();
    const batched = this.#muster.call.message.nack(args, { idempotencyKey });
    return insist(task, () =>
      this.once(batched, (options) => this.#muster.message.nack(args, { ...options, idempotencyKey })),
    );
  }

  /** Settles what is left, and returns the refusals: the work is done, and they are no reason to do it again. */
  async #settle(task: Task): Promise<readonly unknown[]> {
    const refusals: unknown[] = [];
    for (const hold of task.holds)
      if (hold.isOpen)
        try {
          await hold.settle();
        } catch (error) {
          if (task.isOver) throw error;
          refusals.push(error);
        }
    return refusals;
  }

  async void(task: Task): Promise<void> {
    for (const hold of task.holds) if (hold.isOpen) await hold.void();
  }

  /** What a lost task had reserved is left to the next attempt, where there can be one. */
  async voidIfEnded(task: Task): Promise<void> {
    if (!task.holds.some(({ isOpen }) => isOpen)) return;
    const { state } = await this.#muster.message.view({ messageId: task.message.id });
    if (finalStates.includes(state)) await this.void(task);
  }
}
