import { isRefusal } from './error.ts';
import { isPassing } from './journal.ts';
import { backoffMs, type OwnOptions, pause } from './send.ts';

/** A place in line ends this soon after its last renewal, because what is granted to a dead process is lost to others. */
export const placeSeconds = 30;
/** The shortest time to live that a renewal may set. */
const minPlaceSeconds = 5;
const renewEveryMs = (placeSeconds * 1000) / 3;
const maxPauseMs = 2_000;

/** A place in the queue of a pool or an allowance. */
export interface Place<T extends { readonly state: string }> {
  /** Waits at the server until the place is granted or has ended. */
  readonly view: (waitSeconds: number, options: OwnOptions) => Promise<T>;
  /** Sets how long it waits from now on. */
  readonly renew: (ttlSeconds: number, options: OwnOptions) => Promise<unknown>;
}

/** How long a place is asked for, for a caller who waits until this performance.now() time. */
export function placeUntil(untilMs: number): number {
  return Math.min(placeSeconds, Math.max(0, Math.ceil((untilMs - performance.now()) / 1000)));
}

/** Passes over a refusal because the place has ended: the next view shows how. */
function ifWaiting(error: unknown): void {
  if (!isRefusal(error, 'HOLD_NOT_WAITING', 'WAITER_NOT_WAITING')) throw error;
}

/**
 * Waits in line, and renews the place until it is granted or has ended. `found` is its record, which was asked for
 * `placeUntil(untilMs)`. Resolves with the record then, and with whether the wait was to end by itself: a place that is
 * EXPIRED before that was lost in an outage.
 */
export async function waitInLine<T extends { readonly state: string }>(
  place: Place<T>,
  found: T,
  { untilMs, signal }: { readonly untilMs: number; readonly signal: AbortSignal | undefined },
): Promise<{ readonly found: T; readonly isLast: boolean }> {
  let [renewAt, isLast, failures] = [performance.now() + renewEveryMs, placeUntil(untilMs) < placeSeconds, 0];
  while (found.state === 'WAITING')
    try {
      const leftMs = renewAt - performance.now();
      if (isLast || leftMs > 0) {
        const seconds = Math.ceil((isLast ? renewEveryMs : leftMs) / 1000);
        found = await place.view(seconds, { attempts: 1, timeoutMs: 2 * renewEveryMs, signal });
        renewAt = 0;
      } else {
        const from = performance.now();
        const seconds = Math.max(minPlaceSeconds, placeUntil(untilMs));
        await place.renew(seconds, { attempts: 1, timeoutMs: renewEveryMs, signal }).catch(ifWaiting);
        [renewAt, isLast] = [from + renewEveryMs, seconds < placeSeconds];
      }
      failures = 0;
    } catch (error) {
      if (signal?.aborted || !isPassing(error)) throw error;
      await pause(backoffMs(failures++, { maxMs: maxPauseMs }), signal);
    }
  return { found, isLast };
}
