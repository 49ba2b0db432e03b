import { MusterError } from '../error.ts';
import { isPassing } from '../journal.ts';
import { backoffMs, pause } from '../send.ts';

/** The claim that a call is made for. */
interface Claim {
  readonly isOver: boolean;
  readonly context: { readonly signal: AbortSignal };
}

const maxPauseMs = 2_000;
const maxAskedSeconds = 60;

/** Makes a call until it is answered, for as long as the claim is kept. */
export async function insist<T>(claim: Claim, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++)
    try {
      return await attempt();
    } catch (error) {
      if (claim.isOver || !isPassing(error)) throw error;
      const askedSeconds = error instanceof MusterError ? (error.retryAfterSeconds ?? 0) : 0;
      const minMs = Math.min(maxAskedSeconds, askedSeconds) * 1000;
      await pause(backoffMs(failures, { maxMs: maxPauseMs, minMs }), claim.context.signal);
    }
}
