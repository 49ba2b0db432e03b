import Joi from 'joi';
import { groupStates, taskReasons } from '../group/schemas.ts';
import { count, record, replyId, time } from '../http/replies.ts';

export const mailboxReply = record({
  id: replyId(),
  name: Joi.string(),
  mode: Joi.valid('WORK', 'INBOX'),
  recipientId: Joi.string().allow(null),
  backlogLimit: count(),
  counts: record({ ready: count(), claimed: count(), failed: count() }),
  oldestReadyAt: time().allow(null),
  createdAt: time(),
});

export const messageStates = ['READY', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];
const groupState = () => Joi.valid(...groupStates).allow(null);

export const messageFields = {
  id: replyId(),
  mailboxId: replyId(),
  scopeId: replyId(),
  taskId: replyId().allow(null),
  groupId: replyId().allow(null),
  taskKey: Joi.string().allow(null),
  state: Joi.valid(...messageStates),
  reason: Joi.valid(...taskReasons).allow(null),
  attempts: count(),
  maxAttempts: count(),
  workKey: Joi.string().allow(null),
  payload: Joi.any(),
  deadline: time().allow(null),
  holder: Joi.string().allow(null),
  holderSession: Joi.string().allow(null),
  claimedAt: time().allow(null),
  leaseExpiresAt: time().allow(null),
  result: Joi.any(),
  createdAt: time(),
  finishedAt: time().allow(null),
};

export const claimReply = record({ ...messageFields, token: Joi.string(), attempt: count(), leaseSeconds: count() });

export const messageReply = {
  record: record(messageFields),
  sent: record({ id: replyId(), mailboxId: replyId(), state: Joi.valid(...messageStates), replay: Joi.boolean() }),
  renewed: record({ id: replyId(), state: Joi.valid('CLAIMED'), leaseExpiresAt: time(), groupState: groupState() }),
  completed: record({
    id: replyId(),
    state: Joi.valid('ACKED'),
    taskId: replyId().allow(null),
    taskState: Joi.valid('SUCCEEDED').allow(null),
    resultMessageId: replyId().allow(null),
    groupId: replyId().allow(null),
    groupState: groupState(),
    replay: Joi.boolean(),
  }),
  nacked: record({ id: replyId(), state: Joi.valid('READY', 'FAILED', 'REJECTED', 'CANCELLED'), attempts: count() }),
};
