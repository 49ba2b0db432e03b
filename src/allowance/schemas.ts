import Joi from 'joi';
import { count, record, replyId, time } from '../http/replies.ts';

/** Far above any quota, and small enough for sums of units to stay whole numbers everywhere. */
export const mostUnits = 1_000_000_000;

export const allowanceReply = record({
  id: replyId(),
  name: Joi.string(),
  unitsLimit: count(),
  windowSeconds: count(),
  windowStartedAt: time(),
  windowEndsAt: time(),
  usedUnits: count(),
  availableUnits: count(),
  cooldownUntil: time().allow(null),
  cooldownReason: Joi.string().allow(null),
  waiting: count(),
  createdAt: time(),
});

export const consumptionReply = record({
  id: replyId(),
  allowanceId: replyId(),
  scopeId: replyId(),
  holder: Joi.string(),
  units: count(),
  workKey: Joi.string().allow(null),
  replay: Joi.boolean(),
  windowEndsAt: time(),
  availableUnits: count(),
  createdAt: time(),
});

export const cooldownReply = record({
  allowanceId: replyId(),
  cooldownUntil: time(),
  reason: Joi.string().allow(null),
});

export const waiterStates = ['WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED'];

export const waiterReply = record({
  id: replyId(),
  waiterId: replyId(),
  allowanceId: replyId(),
  scopeId: replyId(),
  holder: Joi.string(),
  units: count(),
  state: Joi.valid(...waiterStates),
  position: Joi.number().integer().min(1).allow(null),
  expiresAt: time(),
  grantedAt: time().allow(null),
  createdAt: time(),
});
