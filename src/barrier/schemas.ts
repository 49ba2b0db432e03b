import Joi from 'joi';
import { count, record, replyId, time } from '../http/replies.ts';

export const barrierStates = ['OPEN', 'RELEASED', 'CANCELLED'];

export const barrierReply = record({
  id: replyId(),
  scopeId: replyId(),
  state: Joi.valid(...barrierStates),
  epoch: Joi.number().integer().min(1),
  arrivals: count(),
  target: Joi.number().integer().min(1),
  createdAt: time(),
  releasedAt: time().allow(null),
});
