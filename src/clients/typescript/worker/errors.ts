import { isRefusal, type MusterError, textOf } from '../error.ts';

export interface RetryLaterOptions extends ErrorOptions {
  /** False if the work was not tried, for example because a quota was short, so that no attempt is used up. Default true. */
  readonly countsAttempt?: boolean;
}

/**
 * Thrown by a handler: the message comes back after this many seconds, and the next attempt finds the reason in `lastError`.
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
  readonly seconds: number;
  readonly countsAttempt: boolean;
  constructor(seconds: number, reason = `again in ${seconds} s`, options: RetryLaterOptions = {}) {
    super(reason, options);
    this.seconds = seconds;
    this.countsAttempt = options.countsAttempt ?? true;
  }
}

/** Thrown by a handler: another attempt would be useless, so the message ends REJECTED. */
export class GiveUp extends Error {
  override readonly name = 'GiveUp';
}

/** The reason of a task's `signal`: its claim has ended, and with it the right to continue. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** The reason of a task's `signal`: the worker is stopping and gives the message back. */
export class WorkerClosed extends Error {
  override readonly name = 'WorkerClosed';
}

/**
 * Whether a claim's call was refused because the claim has ended; RESULT_CONFLICT: by a completion with another result,
 * which stands. In an atomic batch, that call is the first one.
 */
export function isLost(error: unknown): error is MusterError {
  return isRefusal(error, 'CLAIM_LOST', 'MESSAGE_NOT_FOUND', 'RESULT_CONFLICT') && (error.index ?? 0) === 0;
}

/** Whether a call was refused because a budget or quota is short. The call may succeed later. */
export function isShort(error: unknown): error is MusterError {
  return isRefusal(error, 'INSUFFICIENT_BUDGET', 'ALLOWANCE_EXHAUSTED', 'ALLOWANCE_COOLING_DOWN', 'WAITERS_FULL');
}

const maxReasonLength = 2_048;

/** A handler's error as the reason of a nack: one line of at most 2,048 characters. */
export function reasonOf(thrown: unknown): string {
  const isOurs = thrown instanceof RetryLater || thrown instanceof GiveUp || thrown instanceof WorkerClosed;
  const text = isOurs ? thrown.message : textOf(thrown);
  return [...(lineOf(text) || 'no reason was given')].slice(0, maxReasonLength).join('');
}

/** A text on one line. */
export function lineOf(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();
}
