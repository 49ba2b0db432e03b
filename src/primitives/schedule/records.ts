import { id, momentOfId, number, opaque, state, text, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';

export const scheduleStates = ['ACTIVE', 'PAUSED', 'ENDED'] as const;

export const Schedule = record('Schedule', {
  id: id(),
  name: text(),
  mailboxId: id(),
  scopeId: id(),
  payload: opaque().means('the payload of each message'),
  cron: text()
    .orNull()
    .means('the cron expression of its moments, or null if it has everySeconds')
    .example('0 9 * * 1-5'),
  everySeconds: number(5)
    .orNull()
    .means('the seconds between messages, counted from its creation, or null if it has cron'),
  timezone: text().means('the IANA time zone of cron').example('Europe/Berlin'),
  maxAttempts: number(1).orNull().means("the most attempts of each message, or null for the mailbox's"),
  retryDelaySeconds: number()
    .orNull()
    .means("the first pause before a retry of each message, which doubles, or null for the mailbox's")
    .example(null),
  maxRetryDelaySeconds: number(1)
    .orNull()
    .means("the longest pause between two attempts of each message, or null for the mailbox's")
    .example(null),
  attemptSeconds: number(1)
    .orNull()
    .means("the most seconds that an attempt of each message may take, or null for the mailbox's")
    .example(null),
  priority: number(0, 9).or(0).means('the priority of each message'),
  key: text().orNull().means('the key of each message, or null if they have none').example(null),
  state: state('schedules', ...scheduleStates),
  nextAt: time()
    .orNull()
    .means('when it sends next, or null if it is paused or has ended')
    .example('2026-02-02T08:00:00.000Z'),
  lastAt: time().orNull().means('the moment of its last message, or null if it has sent none yet'),
  lastMessageId: id().orNull().means('the last message that it sent, or null if it has sent none yet'),
  missed: number()
    .or(0)
    .means(
      'the number of moments that were not sent because no worker ran: of several that pass meanwhile, only the last is sent',
    ),
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

/** A schedule whose next moment has passed, for workers. */
export const DueSchedule = record('DueSchedule', {
  id: id(),
  spaceId: id(),
  nextAt: number(),
  cron: text().orNull(),
  everySeconds: number().orNull(),
  timezone: text(),
});
