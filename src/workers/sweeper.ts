import type { Due } from '../redis/due.ts';
import type { Jobs } from './periodic.ts';

/** Four sweeps a second leave most of the second that the contract gives a due moment to the work itself. */
const sweepEveryMs = 250;
const repairEveryMs = 30_000;

/**
 * Makes due timers real without anybody looking: a job every quarter of a second takes the organizations that are due,
 * another walks over all of them now and then. Correctness never depends on it (design, principle 4).
 */
export function sweepJobs(due: Due): Jobs {
  return {
    sweep: { everyMs: sweepEveryMs, run: () => due.takeDue() },
    repair: { everyMs: repairEveryMs, run: () => due.repair() },
  };
}
