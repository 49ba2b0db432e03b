import Joi from 'joi';
import { record, replyId, time } from '../http/replies.ts';

const count = () => Joi.number().integer().min(0);
const nullable = (schema: Joi.Schema) => schema.allow(null);

export const mailboxReply = record({
  id: replyId(),
  name: Joi.string(),
  mode: Joi.valid('WORK', 'INBOX'),
  recipientId: nullable(Joi.string()),
  backlogLimit: count(),
  counts: record({ ready: count(), claimed: count(), failed: count() }),
  oldestReadyAt: nullable(time()),
  createdAt: time(),
});

const messageStates = ['READY', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'];
const groupState = () => nullable(Joi.valid('OPEN', 'SEALED', 'DECIDED'));

export const messageFields = {
  id: replyId(),
  mailboxId: replyId(),
  scopeId: replyId(),
  taskId: nullable(replyId()),
  groupId: nullable(replyId()),
  taskKey: nullable(Joi.string()),
  state: Joi.valid(...messageStates),
  reason: nullable(Joi.valid('REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED')),
  attempts: count(),
  maxAttempts: count(),
  workKey: nullable(Joi.string()),
  payload: Joi.any(),
  deadline: nullable(time()),
  holder: nullable(Joi.string()),
  holderSession: nullable(Joi.string()),
  claimedAt: nullable(time()),
  leaseExpiresAt: nullable(time()),
  result: Joi.any(),
  createdAt: time(),
  finishedAt: nullable(time()),
};

export const claimReply = record({ ...messageFields, token: Joi.string(), attempt: count(), leaseSeconds: count() });

export const messageReply = {
  record: record(messageFields),
  sent: record({ id: replyId(), mailboxId: replyId(), state: Joi.valid(...messageStates), replay: Joi.boolean() }),
  renewed: record({ id: replyId(), state: Joi.valid('CLAIMED'), leaseExpiresAt: time(), groupState: groupState() }),
  completed: record({
    id: replyId(),
    state: Joi.valid('ACKED'),
    taskId: nullable(replyId()),
    taskState: nullable(Joi.valid('SUCCEEDED')),
    resultMessageId: nullable(replyId()),
    groupId: nullable(replyId()),
    groupState: groupState(),
    replay: Joi.boolean(),
  }),
  nacked: record({ id: replyId(), state: Joi.valid('READY', 'FAILED', 'REJECTED', 'CANCELLED'), attempts: count() }),
};
