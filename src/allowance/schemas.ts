import Joi from 'joi';
import { record, replyId, time } from '../http/replies.ts';

/** Far above any quota, and small enough for sums of units to stay whole numbers everywhere. */
export const mostUnits = 1_000_000_000;

const count = () => Joi.number().integer().min(0);
const nullable = (schema: Joi.Schema) => schema.allow(null);

export const allowanceReply = record({
  id: replyId(),
  name: Joi.string(),
  unitsLimit: count(),
  windowSeconds: count(),
  windowStartedAt: time(),
  windowEndsAt: time(),
  usedUnits: count(),
  availableUnits: count(),
  cooldownUntil: nullable(time()),
  cooldownReason: nullable(Joi.string()),
  waiting: count(),
  createdAt: time(),
});

export const consumptionReply = record({
  id: replyId(),
  allowanceId: replyId(),
  scopeId: replyId(),
  holder: Joi.string(),
  units: count(),
  workKey: nullable(Joi.string()),
  replay: Joi.boolean(),
  windowEndsAt: time(),
  availableUnits: count(),
  createdAt: time(),
});

export const cooldownReply = record({ allowanceId: replyId(), cooldownUntil: time(), reason: nullable(Joi.string()) });

export const waiterReply = record({
  id: replyId(),
  waiterId: replyId(),
  allowanceId: replyId(),
  scopeId: replyId(),
  holder: Joi.string(),
  units: count(),
  state: Joi.valid('WAITING', 'GRANTED', 'CANCELLED', 'EXPIRED'),
  position: nullable(Joi.number().integer().min(1)),
  expiresAt: time(),
  grantedAt: nullable(time()),
  createdAt: time(),
});
