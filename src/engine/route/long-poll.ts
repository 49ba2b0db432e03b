import type { ReplyHead } from '../declare/reply.ts';
import type { Receiver } from '../redis/held.ts';
import type { Refusal } from '../redis/scripts.ts';
import type { Args } from './args.ts';

/** The result of one run of a route's script; `reply` is undefined if it replied with nothing. */
export interface ScriptResult<R = unknown> {
  readonly head: ReplyHead;
  readonly reply: R | undefined;
}

/**
 * How a call is held. Its script runs at once and after each wake-up, until a result ends the hold or the time is up. Then
 * it runs once more, and the result or refusal is the answer.
 */
export interface LongPoll {
  readonly waitSeconds: number;
  /** The topic that wakes it, which scripts publish with their changes. */
  readonly topic: string;
  /** For a receive: its worker. */
  readonly receiver?: Receiver;
  /** Equal calls that one change wakes share a run, as it takes nothing. */
  readonly isShared?: true;
  /** Arguments of each run but the last. */
  readonly whileHeld?: Args;
  /** Arguments that keep the last run from taking anything, for a receiver that has left. */
  readonly whenLeft?: Args;
  /** Whether the hold ends with this result. */
  isOver(result: ScriptResult): boolean;
  /** Whether the hold goes on after this refusal; by default never. */
  outlasts?(refusal: Refusal): boolean;
  /** How soon the script runs again after such a refusal, even without a wake-up, in milliseconds. */
  readonly retryMs?: number;
}
