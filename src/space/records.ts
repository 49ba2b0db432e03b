import { id, number, text, time } from '../declare/field.ts';
import { record } from '../declare/record.ts';
import { date, dateOf } from './days.ts';
import { byCall, operations } from './kinds.ts';

/** A space as operators see it; its limits and counters are fields of its record, too. */
export const Space = record('Space', {
  spaceId: id().workedOut(),
  /** Part of the names of its keys. */
  number: text().internal(),
  name: text().orNull(),
  createdAt: time(),
  /** The rate of that minute. */
  requestsMinute: number().orNull().internal(),
  usedRequests: number().orNull().internal(),
  /** In days since 1970: what `op:<call>` and uncounted are of. */
  usageDay: number().orNull().internal(),
  retainedBytes: number().orNull().internal(),
  /** The journal entry up to which finished messages have gone; the first day whose idempotency records are there. */
  retainedThrough: text().orNull().internal(),
  /** The last entry that retention has trimmed, and the last one that is in a segment. */
  trimmedThrough: text().orNull().internal(),
  packedThrough: text().orNull().internal(),
  /** The entry up to which messages were packed in the order in which they were sent; how many segments that has made. */
  messagesPackedThrough: text().orNull().internal(),
  messageSegments: number().or(0).internal(),
  idempotencyFrom: number().orNull().internal(),
  /** The minute since 1970 in which a message was last sent, was claimed or ended (lua/mailbox/_figures.lua); 0: none was. */
  figuresMinute: number().or(0).internal(),
});

/** As callers see it. */
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
  operations: number().of(operations).means('what counts towards the plan: the sum of byCall'),
  byCall: byCall.named('calls').means('operations by the name of their call'),
  retainedBytes: number().or(0).means('the payloads and the journal kept at the end of the day'),
});
