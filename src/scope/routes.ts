import Joi from 'joi';
import { waiterReply } from '../allowance/schemas.ts';
import { Barrier } from '../barrier/records.ts';
import { reservationFields } from '../budget/schemas.ts';
import { TaskGroupSummary } from '../group/records.ts';
import { read } from '../http/legacy.ts';
import { count, record, replyId, time } from '../http/replies.ts';
import type { Route } from '../http/route.ts';
import { MessageSummary } from '../mailbox/records.ts';
import { runRecord } from './records.ts';

/** Records of each kind (contract section 4). */
const most = 200;

const scopeReply = record({
  id: replyId(),
  parentScopeId: replyId().allow(null),
  state: Joi.valid('ACTIVE', 'IDLE'),
  createdAt: time(),
});
const listOf = (item: Joi.Schema) => Joi.array().items(item).max(most);

const run = read({
  path: '/ops/runs/:scopeId',
  call: 'run.view',
  summary: 'A run: what belongs to a scope and to those below it, newest first',
  success: {
    200: record({
      scope: scopeReply,
      scopes: listOf(scopeReply),
      messages: listOf(MessageSummary.schema),
      groups: listOf(TaskGroupSummary.schema),
      barriers: listOf(Barrier.schema),
      reservations: listOf(record(reservationFields)),
      waiters: listOf(waiterReply),
      consumptions: record({ count: count(), units: count() }),
      truncated: Joi.boolean(),
    }),
  },
  refuses: ['SCOPE_NOT_FOUND'],
  script: 'scope/run',
  args: () => ({ most }),
  answer: (reply) => ({ status: 200, body: runRecord(reply) }),
});

export const scopeRoutes: readonly Route[] = [run];
