import Joi from 'joi';
import { record, replyId, time } from '../http/replies.ts';
import { aggregates, eventTypes } from './types.ts';

const eventReply = record({
  eventId: replyId(),
  type: Joi.valid(...eventTypes),
  aggregate: Joi.valid(...aggregates),
  aggregateId: replyId(),
  scopeId: replyId().allow(null),
  occurredAt: time(),
  requestId: Joi.string().allow(null),
  payload: Joi.object().pattern(Joi.string(), Joi.any()),
});

/** Their nextCursor is never null: there is always more to come. */
export const eventsReply = record({ events: Joi.array().items(eventReply), nextCursor: Joi.string() });
