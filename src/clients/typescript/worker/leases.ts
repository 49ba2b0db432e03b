import { MusterError } from '../error.ts';
import { ClaimLost, isLost } from './errors.ts';
import type { Task } from './task.ts';

const progressEveryMs = 1000;
/** Renewals due within this fraction of the lease are sent together with those due now. */
const soon = 1 / 30;
const retryMs = 500;

/** Renews a claim, with `progress` if there is any. */
export type Renew = (task: Task, progress?: { readonly progress: unknown }) => Promise<unknown>;

/** Keeps claims: renews them at a third of the lease, with progress if there is any, and notices lost ones. */
export class Leases {
  readonly #renew: Renew;
  readonly #lost: (task: Task, reason: ClaimLost) => void;
  readonly #tasks = new Set<Task>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(renew: Renew, lost: (task: Task, reason: ClaimLost) => void) {
    this.#renew = renew;
    this.#lost = lost;
  }

  add(task: Task): void {
    task.leasedFrom(performance.now());
    this.#tasks.add(task);
    this.#plan();
  }

  delete(task: Task): void {
    this.#tasks.delete(task);
    this.#plan();
  }

  /** Sends a task's progress, at once unless some was sent within the last second. */
  progressed(): void {
    this.#plan();
  }

  /** Renews now, which also checks whether the claim still stands. */
  renew(task: Task): Promise<void> {
    if (task.isOver) return Promise.resolve();
    task.renewal ??= this.#renewNow(task);
    return task.renewal;
  }

  async #renewNow(task: Task): Promise<void> {
    const sentAt = performance.now();
    const { progress } = task;
    task.progress = undefined;
    if (progress) task.progressAt = sentAt;
    try {
      await this.#renew(task, progress && { progress: progress.value });
      task.leasedFrom(sentAt);
    } catch (error) {
      // A renewal may arrive after the task's end, whose own answer says whether the claim was lost.
      if (isLost(error) && !task.ending) this.#lost(task, new ClaimLost(error.message, { cause: error }));
      // Drop progress that is too large, and renew the claim without it.
      const isTooLarge = error instanceof MusterError && error.status === 413;
      if (!isTooLarge) task.progress ??= progress;
      task.renewAt = performance.now() + (isTooLarge ? 0 : retryMs * (1 + Math.random()));
      if (task.progress) task.progressAt = performance.now();
    } finally {
      task.renewal = undefined;
      this.#plan();
    }
  }

  #plan(): void {
    clearTimeout(this.#timer);
    let next = Number.POSITIVE_INFINITY;
    for (const task of this.#tasks) if (!task.isOver) next = Math.min(next, task.leaseEndsAt, dueAt(task));
    if (next < Number.POSITIVE_INFINITY)
      this.#timer = setTimeout(() => this.#turn(), Math.max(0, next - performance.now()));
  }

  #turn(): void {
    const now = performance.now();
    for (const task of this.#tasks) {
      if (task.isOver) continue;
      const isSoon = task.renewAt <= now + task.message.leaseSeconds * 1000 * soon;
      if (now >= task.leaseEndsAt) this.#lost(task, new ClaimLost(endOf(task)));
      else if (isSoon || dueAt(task) <= now) void this.renew(task);
    }
    this.#plan();
  }
}

const endOf = (task: Task): string =>
  task.leaseEndsAt === task.attemptEndsAt
    ? "the attempt's time has ended (attemptSeconds)"
    : 'the lease has ended, as it could not be renewed';

function dueAt(task: Task): number {
  if (task.renewal) return Number.POSITIVE_INFINITY;
  return task.progress ? Math.min(task.renewAt, task.progressAt + progressEveryMs) : task.renewAt;
}
