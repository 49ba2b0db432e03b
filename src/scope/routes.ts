import Joi from 'joi';
import { ConsumptionTotals, Waiter } from '../allowance/records.ts';
import { Barrier } from '../barrier/records.ts';
import { Reservation } from '../budget/records.ts';
import { groupReply, memberFields } from '../group/schemas.ts';
import { read } from '../http/legacy.ts';
import { record, replyId, time } from '../http/replies.ts';
import type { Route } from '../http/route.ts';
import { messageFields } from '../mailbox/schemas.ts';
import { runRecord } from './records.ts';

/** Records of each kind (contract section 4). */
const most = 200;

const scopeReply = record({
  id: replyId(),
  parentScopeId: replyId().allow(null),
  state: Joi.valid('ACTIVE', 'IDLE'),
  createdAt: time(),
});
const { payload, result, ...messageRow } = messageFields;
const { outcome, ...memberRow } = memberFields;
const listOf = (item: Joi.Schema) => Joi.array().items(item).max(most);

const run = read({
  path: '/ops/runs/:scopeId',
  call: 'run.view',
  summary: 'A run: what belongs to a scope and to those below it, newest first',
  success: {
    200: record({
      scope: scopeReply,
      scopes: listOf(scopeReply),
      messages: listOf(record(messageRow)),
      groups: listOf(groupReply.view.keys({ members: Joi.array().items(record(memberRow)) })),
      barriers: listOf(Barrier.schema),
      reservations: listOf(Reservation.schema),
      waiters: listOf(Waiter.schema),
      consumptions: ConsumptionTotals.schema,
      truncated: Joi.boolean(),
    }),
  },
  refuses: ['SCOPE_NOT_FOUND'],
  script: 'scope/run',
  args: () => ({ most }),
  answer: (reply) => ({ status: 200, body: runRecord(reply) }),
});

export const scopeRoutes: readonly Route[] = [run];
