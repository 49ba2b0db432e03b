import type { Reply } from '../declare/value.ts';
import type { Args } from '../route/args.ts';
import type { ScriptResult } from '../route/long-poll.ts';
import type { Input, Receives } from '../route/route.ts';

/** The position of a call among calls made in order. */
export interface BatchSlot {
  /** Runs a script at the call's turn. */
  execute(script: string, org: string, args: Args): Promise<Reply>;
  /** Runs a call that receives messages, with the bytes left by the calls before it. */
  receive(receives: Receives, input: Input, execute: () => Promise<ScriptResult>): Promise<ScriptResult>;
}
