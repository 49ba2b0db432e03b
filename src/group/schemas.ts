import Joi from 'joi';
import { count, record, replyId, time } from '../http/replies.ts';

export const groupStates = ['OPEN', 'SEALED', 'DECIDED'];
export const taskStates = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED'];
/** Why a task ended without success. */
export const taskReasons = ['REJECTED_BY_WORKER', 'ATTEMPTS_EXHAUSTED', 'DEADLINE_EXCEEDED', 'GROUP_DECIDED'];
export const conditions = ['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL'];

const state = () => Joi.valid(...groupStates);
const outcome = () => Joi.valid('SATISFIED', 'UNSATISFIABLE', 'EXPIRED').allow(null);
const verdict = () => Joi.valid('ACCEPTED', 'REJECTED');
const counters = [
  'members',
  'pending',
  'running',
  'succeeded',
  'failed',
  'expired',
  'cancelled',
  'accepted',
  'rejected',
];

export const memberFields = {
  taskId: replyId(),
  taskKey: Joi.string().allow(null),
  state: Joi.valid(...taskStates),
  verdict: verdict().allow(null),
  reason: Joi.valid(...taskReasons).allow(null),
  attempts: count(),
  messageId: replyId(),
  outcome: Joi.any(),
  deadline: time().allow(null),
};

const view = record({
  id: replyId(),
  groupId: replyId(),
  scopeId: replyId(),
  parentScopeId: replyId().allow(null),
  mailboxId: replyId(),
  condition: Joi.valid(...conditions),
  threshold: Joi.number().integer().min(1).allow(null),
  state: state(),
  outcome: outcome(),
  deadline: time().allow(null),
  counts: record(Object.fromEntries(counters.map((name) => [name, count()]))),
  members: Joi.array().items(record(memberFields)),
  createdAt: time(),
  sealedAt: time().allow(null),
  decidedAt: time().allow(null),
});

export const groupReply = {
  view,
  created: record({ id: replyId(), groupId: replyId(), scopeId: replyId(), state: Joi.valid('OPEN') }),
  submitted: record({
    id: replyId(),
    taskId: replyId(),
    taskKey: Joi.string(),
    groupId: replyId(),
    messageId: replyId(),
    scopeId: replyId(),
    state: Joi.valid('PENDING'),
  }),
  joined: record({ groupId: replyId(), groupState: state(), taskId: replyId(), members: count() }),
  sealed: record({ groupId: replyId(), state: Joi.valid('SEALED'), outcome: outcome() }),
  judged: record({
    taskId: replyId(),
    verdict: verdict(),
    groupId: replyId(),
    groupState: state(),
    outcome: outcome(),
  }),
};
