import Joi from 'joi';
import { fields, id, integer, moment, oneOf, optional } from '../http/fields.ts';
import { read, readList, route } from '../http/legacy.ts';
import { pageOf } from '../http/page.ts';
import { randomTail } from '../http/random.ts';
import type { Route } from '../http/route.ts';
import { groupIdOf, groupRecord } from './records.ts';
import { conditions, groupReply, groupStates } from './schemas.ts';
import { taskRoutes } from './task-routes.ts';

interface CreateBody {
  parentScopeId?: string;
  mailboxId: string;
  condition: string;
  threshold?: number;
  deadline?: number;
}

const threshold = optional(integer(1, 1000))
  .description('how many accepts N_ACCEPTED needs: required there, ignored otherwise')
  .when('condition', { not: 'N_ACCEPTED', otherwise: Joi.required() })
  .messages({
    'any.required': 'threshold is missing: N_ACCEPTED needs the number of accepts, a whole number from 1 to 1000',
  });

const create = route<unknown, CreateBody>({
  method: 'POST',
  path: '/task-groups',
  call: 'group.create',
  summary:
    'Create a task group: one decision, at the first accept, at `threshold` accepts or once all members are terminal',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    parentScopeId: optional(id()),
    mailboxId: id(),
    condition: oneOf(...conditions),
    threshold,
    deadline: optional(moment()),
  }),
  success: { 201: groupReply.created },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'MAILBOX_MODE_INVALID',
    'OPERATIONS_EXHAUSTED',
    'SCOPE_DEPTH_EXCEEDED',
    'SCOPE_CHILDREN_FULL',
    'TIMERS_FULL',
    'ACTIVE_RUNS_LIMITED',
  ],
  script: 'group/create',
  args: ({ body }) => ({
    parentScopeId: body.parentScopeId ?? '',
    mailboxId: body.mailboxId,
    condition: body.condition,
    threshold: body.condition === 'N_ACCEPTED' ? (body.threshold ?? '') : '',
    deadline: body.deadline ?? '',
    tail: randomTail(),
    scopeTail: randomTail(),
  }),
  answer: ([groupId, scopeId]) => ({ status: 201, body: { id: groupId, groupId, scopeId, state: 'OPEN' } }),
});

const list = readList({
  path: '/task-groups',
  call: 'group.list',
  summary: 'List task groups, newest first; by state',
  script: 'group/list',
  plural: 'groups',
  states: groupStates,
  reply: groupReply.view,
  record: groupRecord,
});

const view = read({
  path: '/task-groups/:groupId',
  call: 'group.view',
  summary: 'A task group: its state, outcome and members with their verdicts',
  success: { 200: groupReply.view },
  refuses: ['GROUP_NOT_FOUND'],
  script: 'group/view',
  answer: ([group]) => ({ status: 200, body: groupRecord(pageOf.rows(group)) }),
});

const seal = route({
  method: 'POST',
  path: '/task-groups/:groupId/seal',
  call: 'group.seal',
  summary: 'Close the membership; again answers the same',
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  success: { 200: groupReply.sealed },
  refuses: ['GROUP_NOT_FOUND', 'GROUP_DECIDED'],
  script: 'group/seal',
  answer: ([outcome], input) => ({ status: 200, body: { ...groupIdOf(input), state: 'SEALED', outcome } }),
});

export const groupRoutes: readonly Route[] = [create, list, view, seal, ...taskRoutes];
