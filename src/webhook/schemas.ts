import Joi from 'joi';
import { count, record, replyId, time } from '../http/replies.ts';

const destination = {
  id: replyId(),
  url: Joi.string(),
  eventTypes: Joi.array().items(Joi.string()),
  state: Joi.valid('ACTIVE', 'DISABLED'),
  disabledReason: Joi.valid('REQUESTED', 'GONE', 'FAILING').allow(null),
  consecutiveFailures: count(),
  lastSuccessAt: time().allow(null),
  createdAt: time(),
};

export const destinationReply = record(destination);
export const secretReply = record({
  ...destination,
  signingSecret: Joi.string().pattern(/^whsec_[0-9A-Za-z+/]{43}=$/),
});

/** Where there was no answer with a status of success: why. */
const errorCodes = [
  'STATUS',
  'REDIRECTED',
  'TIMEOUT',
  'CONNECTION_REFUSED',
  'CONNECTION_FAILED',
  'NAME_NOT_RESOLVED',
  'TLS_FAILED',
  'TARGET_FORBIDDEN',
  'INTERRUPTED',
] as const;

export const deliveryReply = record({
  id: replyId(),
  destinationId: replyId(),
  eventId: replyId(),
  eventType: Joi.string(),
  attempt: Joi.number().integer().min(1),
  trigger: Joi.valid('SCHEDULED', 'MANUAL', 'TEST'),
  state: Joi.valid('SUCCEEDED', 'FAILED'),
  responseStatus: Joi.number().integer().allow(null),
  errorCode: Joi.valid(...errorCodes).allow(null),
  durationMs: count(),
  attemptedAt: time(),
  nextAttemptAt: time().allow(null),
});
