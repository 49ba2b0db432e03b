import { momentOfId } from '../../engine/declare/field.ts';
import { Cron } from './cron.ts';
import { Zone } from './zone.ts';

export interface Timing {
  readonly id: string;
  readonly cron: string | null;
  readonly everySeconds: number | null;
  readonly timezone: string;
}

/**
 * The due moments of a schedule: the last one that has passed, how many passed before it since `nextAt`, and the next one.
 */
export interface DueMoments {
  readonly moment: number;
  readonly missed: number;
  readonly following: number;
}

/** The first moment of a cron expression after a moment. */
export function nextOf(cron: string, timezone: string, after: number): number {
  const { expression, zone } = parsed(cron, timezone);
  return expression.next(zone, after);
}

/** How many moments ahead the view of a schedule shows. */
export const maxAhead = 5;

/** The next moments of a schedule, from `nextAt` on; none if it is paused or has ended. */
export function momentsAhead({ cron, everySeconds, timezone }: Omit<Timing, 'id'>, nextAt: string | null): string[] {
  if (nextAt === null) return [];
  const moments = [Date.parse(nextAt)];
  while (moments.length < maxAhead) {
    const last = moments.at(-1) ?? 0;
    moments.push(cron === null ? last + Number(everySeconds) * 1000 : nextOf(cron, timezone, last));
  }
  return moments.map((at) => new Date(at).toISOString());
}

/** The due moments, at `now`, of a schedule whose next moment was `nextAt`. */
export function dueMoments(timing: Timing, nextAt: number, now: number): DueMoments {
  const { cron, everySeconds, timezone } = timing;
  if (cron === null) {
    const everyMs = Number(everySeconds) * 1000;
    const moment = Math.max(nextAt, now - ((now - momentOfId(timing.id)) % everyMs));
    return { moment, missed: Math.floor((moment - nextAt) / everyMs), following: moment + everyMs };
  }
  const { expression, zone } = parsed(cron, timezone);
  const following = expression.next(zone, nextAt);
  if (following > now) return { moment: nextAt, missed: 0, following };
  const moment = expression.last(zone, now);
  return { moment, missed: expression.count(zone, nextAt, moment) - 1, following: expression.next(zone, now) };
}

function parsed(cron: string, timezone: string): { readonly expression: Cron; readonly zone: Zone } {
  const [expression, zone] = [Cron.of(cron), Zone.of(timezone)];
  if (!zone) throw new Error(`${cron} in ${timezone} cannot be read`);
  return { expression, zone };
}
