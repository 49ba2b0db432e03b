import Joi from 'joi';
import { cursor, fields, queryInteger } from '../http/fields.ts';
import { record, replyId, time } from '../http/replies.ts';
import { param, type Route, route } from '../http/route.ts';
import { readCursor, writeCursor } from './cursor.ts';
import { eventRecord } from './record.ts';
import { aggregates, eventTypes } from './types.ts';
import type { Value } from '../redis/scripts.ts';

export const eventReply = record({
  eventId: replyId(),
  type: Joi.valid(...eventTypes),
  aggregate: Joi.valid(...aggregates),
  aggregateId: replyId(),
  scopeId: replyId().allow(null),
  occurredAt: time(),
  requestId: Joi.string().allow(null),
  payload: Joi.object(),
});

/** Their nextCursor is never null: there is always more to come. */
export const eventsReply = record({ events: Joi.array().items(eventReply), nextCursor: Joi.string() });

const list = route<{ limit: number; cursor?: string }>({
  method: 'GET',
  path: '/events',
  call: 'event.list',
  summary: 'The journal, oldest first; cursor=latest for from now on',
  permission: 'coordination_read',
  idempotency: 'never',
  query: fields({ limit: queryInteger(1, 500, 100), cursor: cursor() }),
  success: { 200: eventsReply },
  refuses: ['INVALID_CURSOR', 'CURSOR_EXPIRED'],
  script: 'event/list',
  args: (input) => {
    const { epoch, entryId } = readCursor(param(input, 'spaceId'), input.query.cursor);
    return { cursor: entryId, epoch, limit: input.query.limit };
  },
  answer: ([last, epoch, entries], input) => {
    const spaceId = param(input, 'spaceId');
    return {
      status: 200,
      body: {
        events: (entries as Value[]).map((entry) => eventRecord(spaceId, entry)),
        nextCursor: writeCursor(spaceId, String(epoch), String(last)),
      },
    };
  },
});

export const eventRoutes: readonly Route[] = [list];
