import { id, number, text, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';
import { date, dateOf } from './days.ts';
import { byCall, operations } from './kinds.ts';

/** A space as operators see it. Its record also has its limits and counters. */
export const Space = record('Space', {
  spaceId: id().workedOut(),
  /** Part of the names of its keys. */
  number: text().internal(),
  name: text().orNull(),
  createdAt: time(),
  /** The minute that the rate counts. */
  requestsMinute: number().orNull().internal(),
  usedRequests: number().orNull().internal(),
  /** The day, since 1970, that `op:<call>` and uncounted count. */
  usageDay: number().orNull().internal(),
  retainedBytes: number().orNull().internal(),
  /** The journal entry up to which finished messages were removed; the first day that still has idempotency records. */
  retainedThrough: text().orNull().internal(),
  /** The last entry trimmed by retention; the last entry packed into a segment. */
  trimmedThrough: text().orNull().internal(),
  packedThrough: text().orNull().internal(),
  /** The entry up to which messages were packed, in the order they were sent; the number of segments made. */
  messagesPackedThrough: text().orNull().internal(),
  messageSegments: number().or(0).internal(),
  idempotencyFrom: number().orNull().internal(),
  /** The minute since 1970 in which a message was last sent, claimed or ended (lua/mailbox/_figures.lua); 0 if none was. */
  figuresMinute: number().or(0).internal(),
});

/** A space as callers see it. */
export const VisibleSpace = record('VisibleSpace', {
  id: id().named('spaceId'),
  name: text().orNull().example('orders'),
  createdAt: time(),
});

/** The counters of lib/usage for a day. */
export const UsageDay = record('UsageDay', {
  date: date()
    .means('the UTC day')
    .of((get) => dateOf(Number(get('day'))), 'day'),
  syscalls: number()
    .of((get) => operations(get) + Number(get('uncounted')), 'uncounted')
    .means('operations, successful renewals, replays and receives that found nothing'),
  operations: number().of(operations).means('the operations that count towards the plan: the sum of byCall'),
  byCall: byCall.named('calls').means('operations by the name of their call'),
  retainedBytes: number()
    .or(0)
    .means('the bytes of payloads, results, errors, progress, notes, questions and answers kept at the end of the day'),
});
