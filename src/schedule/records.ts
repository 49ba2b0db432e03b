import { id, number, opaque, state, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { record } from '../declare/record.ts';

export const scheduleStates = ['ACTIVE', 'PAUSED', 'ENDED'] as const;

export const Schedule = record('Schedule', {
  id: id(),
  name: text(),
  mailboxId: id(),
  scopeId: id(),
  payload: opaque(),
  cron: text().orNull(),
  everySeconds: number(5).orNull(),
  timezone: text(),
  maxAttempts: number(1).orNull(),
  state: state('schedules', ...scheduleStates),
  nextAt: time().orNull(),
  /** When it last sent a message, and which. */
  lastAt: time().orNull(),
  lastMessageId: id().orNull(),
  missed: number().or(0),
  createdAt: time().of((get) => momentOfId(get('id'))),
});

export const ScheduleSummary = Schedule.without('ScheduleSummary', 'payload');

const { name, mailboxId, scopeId, nextAt, lastAt, missed } = Schedule.fields;

/** An ACTIVE schedule, as /ops/waits shows it. */
export const WaitingSchedule = record('WaitingSchedule', {
  scheduleId: id().named('id'),
  name,
  mailboxId,
  scopeId,
  nextAt,
  lastAt,
  missed,
});

/** A schedule whose next moment has come, as workers get it. */
export const DueSchedule = record('DueSchedule', {
  id: id(),
  spaceId: id(),
  nextAt: number(),
  cron: text().orNull(),
  everySeconds: number().orNull(),
  timezone: text(),
});
