import type { Reply } from '../declare/value.ts';
import type { Layers, Result } from '../route/hold.ts';
import type { Input, Receives } from '../route/route.ts';

/** The position of a call among calls made in order. */
export interface Turn {
  /** Runs a script at the call's turn. */
  run(script: string, org: string, args: Layers): Promise<Reply>;
  /** Runs a call that receives messages, with the bytes left by the calls before it. */
  receive(receives: Receives, input: Input, run: () => Promise<Result>): Promise<Result>;
}
