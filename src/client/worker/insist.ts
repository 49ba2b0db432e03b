import { MusterError } from '../error.ts';
import { isPassing } from '../journal.ts';
import { backoffMs, pause } from '../send.ts';
import type { Task } from './task.ts';

const maxPauseMs = 2_000;
const maxAskedSeconds = 60;

/** Makes a call until it is answered, for as long as the task's claim is kept. */
export async function insist<T>(task: Task, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++)
    try {
      return await attempt();
    } catch (error) {
      if (task.isOver || !isPassing(error)) throw error;
      const askedSeconds = error instanceof MusterError ? (error.retryAfterSeconds ?? 0) : 0;
      const minMs = Math.min(maxAskedSeconds, askedSeconds) * 1000;
      await pause(backoffMs(failures, { maxMs: maxPauseMs, minMs }), task.context.signal);
    }
}
