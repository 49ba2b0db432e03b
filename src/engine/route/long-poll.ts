import type { Receiver } from '../redis/held.ts';
import type { ReplyHead } from './reply-head.ts';

/** Arguments of a script by name. */
export type Args = Readonly<Record<string, string | number>>;

/** All arguments of a script, in layers: the first layer that has a value wins. */
export type Layers = readonly Args[];

/** The result of one run of a route's script; `reply` is undefined if it replied with nothing. */
export interface ScriptResult<R = unknown> {
  readonly head: ReplyHead;
  readonly reply: R | undefined;
}

/** How a call is held: until a look finds something, the time is up, or the caller disconnects. */
export interface LongPoll {
  readonly waitSeconds: number;
  /** The topic that wakes it, which scripts publish with their changes. */
  readonly topic: string;
  /** For a receive: its worker. */
  readonly receiver?: Receiver;
  /** Arguments that keep the last look from taking anything, for a receiver that has left. */
  readonly whenLeft?: Args;
  /**
   * Looks once; undefined if there is nothing to answer yet. `run` runs the route's script with some arguments changed.
   * `again` requests another look after this many milliseconds, even without a wake-up. `isLast`: the time is up, so the
   * result or refusal is the answer.
   */
  look(
    execute: (changes: Args) => Promise<ScriptResult>,
    isLast: boolean,
    again: (inMs: number) => void,
  ): Promise<ScriptResult | undefined>;
}
