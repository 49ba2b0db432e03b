import { RetryLater } from './errors.ts';
import type { WorkerMessage } from './task.ts';

/** How `lastError` begins if the last attempt ended with its lease, usually because its process died. */
const lapsed = 'the lease ended at ';
/** A single process that dies is no reason to slow down the messages that it held. */
const minAttempt = 3;
/** For how many leases nothing is claimed beside a suspect. Work that waits for other work of its worker must go on. */
export const maxLeasesAlone = 10;

export const hasLapsed = ({ lastError }: Pick<WorkerMessage, 'lastError'>): boolean =>
  lastError?.startsWith(lapsed) === true;

/**
 * Whether a message may be the one that ends its process. It is worked on alone, so that its neighbours lose no more attempts.
 * Their last attempt is always one alone.
 */
export function isSuspect(message: Pick<WorkerMessage, 'lastError' | 'attempt' | 'maxAttempts'>): boolean {
  return hasLapsed(message) && (message.attempt >= minAttempt || message.attempt === message.maxAttempts);
}

/** The worker gives a message back before its handler was called. */
export class Untried extends RetryLater {
  constructor() {
    super(0, 'given back untried, because another message is worked on alone', { countsAttempt: false });
  }
}
