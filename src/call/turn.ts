import type { Reply } from '../declare/value.ts';
import type { Layers, Result } from './hold.ts';
import type { Input, Receives } from './route.ts';

/** The place of a call among others that are made in order. */
export interface Turn {
  /** Runs a script when it is the call's turn. */
  run(script: string, org: string, args: Layers): Promise<Reply>;
  /** Runs a call that receives messages, within the bytes that the calls before it have left. */
  receive(receives: Receives, input: Input, run: () => Promise<Result>): Promise<Result>;
}
