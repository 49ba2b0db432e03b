import { number, text } from '../../engine/declare/field.ts';
import { many } from '../../engine/declare/record.ts';
import { keyName } from '../../engine/library/keys.ts';
import type { Due, ExtraTimers } from '../../engine/redis/due.ts';
import { Refusal, type Scripts } from '../../engine/redis/scripts.ts';
import { callArgs, randomTail } from '../../engine/route/args.ts';
import { type BeginTrace, newTrace } from '../../engine/route/trace.ts';
import { scheduleKeys } from './keys.ts';
import { type DueMoments, dueMoments } from './moments.ts';
import { DueSchedule } from './records.ts';

/** The most schedules in a list of due ones, which are fired together. */
const maxSchedules = 100;
/** How long an organization fires without a break, so that others get their turn. */
const turnMs = 1000;

const due = {
  script: 'schedule/due',
  reply: { now: number(), nextDue: text().orNull(), schedules: many(DueSchedule) },
};
const fire = { script: 'schedule/fire', reply: {} };

type Listed = typeof DueSchedule.type;

declare module '../../engine/route/service.ts' {
  interface RoomServices {
    readonly schedules: Firing;
  }
}

/**
 * Fires schedules. A script lists the due ones, the next moment of each is computed here, and a second script checks that the
 * moment is still the next one, sends the message and sets the following moment. Any number of processes may do so at once.
 */
export class Firing implements ExtraTimers {
  readonly #scripts: Scripts;
  readonly #due: Due;
  readonly #begin: BeginTrace;

  /** begin: starts the trace of each message sent. */
  constructor(scripts: Scripts, due: Due, begin: BeginTrace = (_, work) => work(newTrace().traceparent)) {
    this.#scripts = scripts;
    this.#due = due;
    this.#begin = begin;
    due.add(this);
  }

  timersOf(org: string): string {
    return keyName(scheduleKeys.scheduleTimers, { org });
  }

  /** Fires the due schedules of the organization. If some fail, throws the first failure once all others have been fired. */
  async drain(org: string): Promise<void> {
    const end = performance.now() + turnMs;
    const failed: unknown[] = [];
    for (;;) {
      // Failed schedules stay at the front, so skip them.
      const found = await this.#list(org, '', '', failed.length);
      const results = await Promise.allSettled(found.schedules.map((one) => this.#fire(org, one, found.now)));
      for (const one of results) if (one.status === 'rejected') failed.push(one.reason);
      const isDone = found.schedules.length === 0;
      if (!isDone && performance.now() < end) continue;
      const next = isDone ? found.nextDue : String(found.now);
      // Not awaited (see Due).
      if (next !== null) void this.#due.announce(org, next).catch(() => undefined);
      break;
    }
    if (failed.length > 0) throw failed[0];
  }

  /** Fires one schedule if it is due. Resolves with the time up to which its moments have been fired. */
  async fire(org: string, spaceId: string, scheduleId: string): Promise<string> {
    const { now, schedules } = await this.#list(org, spaceId, scheduleId);
    for (const one of schedules) await this.#fire(org, one, now);
    return String(now);
  }

  #list(org: string, spaceId: string, scheduleId: string, skipped = 0) {
    return this.#scripts.ask(due, org, { requestId: '', spaceId, scheduleId, skipped, maxSchedules });
  }

  async #fire(org: string, { id, spaceId, nextAt, ...timing }: Listed, now: number): Promise<void> {
    const { moment, missed, following }: DueMoments = dueMoments({ id, ...timing }, nextAt, now);
    const workKey = `schedule:${id}:${new Date(moment).toISOString()}`;
    const identity = { scheduleId: id, nextAt, moment, missed, following, workKey };
    const tail = randomTail();
    await this.#begin('schedule.fire', (traceparent) => this.#send(org, { ...identity, spaceId, tail, traceparent }));
  }

  async #send(org: string, firing: Readonly<Record<string, string | number>>): Promise<void> {
    for (let sweptThrough = ''; ; ) {
      try {
        await this.#scripts.request(fire, org, {
          ...callArgs,
          ...firing,
          callName: 'schedule.fire',
          sweptThrough,
        });
        return;
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'DUE')) throw error;
        sweptThrough = await this.#due.drain(org);
      }
    }
  }
}
