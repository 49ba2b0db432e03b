import type { Logger } from 'pino';
import { inShort } from '../../engine/redis/failures.ts';

/** How long repetitions of an error are left out of the log. */
const quietMs = 10_000;

/** The errors in each log, and until when to leave out repetitions. */
const logged = new WeakMap<Logger, Map<string, number>>();

/** An error's short text; '' if any worker has just logged the same one, as they share the store. */
export function textUnlessRepeated(log: Logger, error: Error): string {
  const text = inShort(error);
  const now = performance.now();
  const until = logged.get(log) ?? new Map<string, number>();
  logged.set(log, until);
  if (now < (until.get(text) ?? 0)) return '';
  for (const [other, end] of until) if (end < now) until.delete(other);
  until.set(text, now + quietMs);
  return text;
}

/** Logs errors as warnings with this message, and leaves out repetitions for a while. */
export function throttledWarning(log: Logger, message: string): (error: Error) => void {
  return (error) => {
    const text = textUnlessRepeated(log, error);
    if (text !== '') log.warn({ error: text }, message);
  };
}
