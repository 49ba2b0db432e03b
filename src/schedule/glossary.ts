import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of schedules mean. */
export const scheduleGlossary: Glossary = {
  scheduleId: "the schedule's id",
  cron: 'when it sends, as a cron expression; null: it goes by everySeconds',
  everySeconds: 'the seconds between two messages, counted from creation; null: it goes by cron',
  timezone: 'the IANA time zone of cron',
  'schedule.create.payload': 'what each message carries',
  'schedule.update.payload': 'what each message carries from now on',
  'Schedule.payload': 'what each message carries',
  nextAt: 'when it sends next; null: it is paused or has ended',
  lastAt: 'the last moment that it sent a message for; null: none yet',
  lastMessageId: 'the message that it sent last; null: none yet',
  missed: 'how many moments passed while nothing ran; of those only the last was sent',
  'schedule.refused.payload.code': 'the error code that its send was refused with',
};
