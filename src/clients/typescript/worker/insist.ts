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
      // Any other error, such as a codec's, would come again; so would that of a proxy for a request that is too large.
      const isPast = !(error instanceof MusterError) || !isPassing(error) || error.status === 413;
      if (claim.isOver || isPast) throw error;
      const minMs = Math.min(maxAskedSeconds, error.retryAfterSeconds ?? 0) * 1000;
      await pause(backoffMs(failures, { maxMs: maxPauseMs, minMs }), claim.context.signal);
    }
}

/** Makes a call until it is answered. If the claim ends before, makes it as often as the client makes others. */
export async function insistBeyond<T>(claim: Claim, attempt: () => Promise<T>, last: () => Promise<T>): Promise<T> {
  try {
    return await insist(claim, attempt);
  } catch (error) {
    if (!claim.isOver || (error instanceof MusterError && !isPassing(error))) throw error;
    return last();
  }
}
