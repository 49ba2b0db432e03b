import type { Jobs } from './periodic.ts';
import type { Retention } from './retention.ts';

const everyMs = 60_000;

/** Drives retention every minute. What one run missed, the next one does. */
export function retainJobs(retention: Retention): Jobs {
  return { retain: { everyMs, run: () => retention.retainAll() } };
}
