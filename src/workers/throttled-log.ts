import type { Logger } from 'pino';
import { inShort } from '../redis/failures.ts';

const quietMs = 10_000;

/** What each log has been told of, and until when that is enough. */
const told = new WeakMap<Logger, Map<string, number>>();

/** In short what an error says; '' where the log was told of it just now, whoever heard it: a store is one for all. */
export function newsOf(log: Logger, error: Error): string {
  const said = inShort(error);
  const now = performance.now();
  const until = told.get(log) ?? new Map<string, number>();
  told.set(log, until);
  if (now < (until.get(said) ?? 0)) return '';
  for (const [other, end] of until) if (end < now) until.delete(other);
  until.set(said, now + quietMs);
  return said;
}

/** Warns of an error (`what` says where), but of the same again only now and then. */
export function nowAndThen(log: Logger, what: string): (error: Error) => void {
  return (error) => {
    const news = newsOf(log, error);
    if (news !== '') log.warn({ error: news }, what);
  };
}
