import { type Calls, calls } from './generated/calls.ts';
import { type MusterOptions, send } from './send.ts';
import type { CallOptions } from './types.ts';

export { MusterError } from './error.ts';
export type { Calls, ErrorCode } from './generated/calls.ts';
export type { MusterOptions } from './send.ts';
export type { Answer, Args, CallName, CallOptions, Event } from './types.ts';

/** All calls of one space. */
export type Muster = Calls;

/**
 * A client for one space: `muster.message.send({ mailboxId, scopeId, payload })`. Path, query and body fields are passed
 * as one object; calls resolve with the response body. State-changing calls carry an Idempotency-Key and are retried with
 * it, a few times, without a response or after 429 or 503. `message.recv` takes no such key: a claim whose response was
 * lost ends with its lease.
 *
 * @throws MusterError, from every call
 */
export function createMuster(options: MusterOptions): Muster {
  const muster: Record<string, Record<string, unknown>> = {};
  for (const [name, target] of Object.entries(calls)) {
    const [room = '', call = ''] = name.split('.');
    muster[room] ??= {};
    muster[room][call] = (args: Record<string, unknown> = {}, callOptions: CallOptions = {}) =>
      send(options, target, args, callOptions);
  }
  return muster as unknown as Muster;
}
