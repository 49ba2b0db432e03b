import Joi from 'joi';
import { flag, oneOf as oneOfField, raws } from '../../engine/declare/field.ts';
import { one, record } from '../../engine/declare/record.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { fields, id, integer, key, moment, oneOf, optional } from '../../engine/route/fields.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { damagedDetail } from '../mailbox/errors.ts';
import { groupStates } from '../mailbox/records.ts';
import { conditions, TaskGroup } from './records.ts';
import { taskRoutes } from './task-routes.ts';

const { id: groupId, scopeId, outcome } = TaskGroup.fields;

const threshold = optional(integer(1, 1000))
  .description('the accepted results that decide the group; required with N_ACCEPTED, ignored otherwise')
  .meta({ model: 'so many accepted results decide it' })
  .when('condition', { not: 'N_ACCEPTED', otherwise: Joi.required() })
  .messages({
    'any.required': 'threshold is missing: N_ACCEPTED needs the number of accepts, a whole number from 1 to 1000',
  });

const { state } = TaskGroup.fields;
const CreatedGroup = record('CreatedGroup', {
  id: groupId,
  groupId: groupId.named('id'),
  scopeId,
  state,
  replay: flag().named('known'),
});

const create = route({
  method: 'POST',
  path: '/task-groups',
  call: 'group.create',
  summary:
    'Create a task group: one decision, at the first accept, at `threshold` accepts or once all members are terminal',
  description:
    "Its members are delivered through `mailboxId`, in a scope of the group's own. Seal it when all members are " +
    'there, so that it can be found UNSATISFIABLE; a `deadline` decides it as EXPIRED. A `workKey` that is known in the space ' +
    'answers 200 with the first group, whatever else differs, for as long as that is kept.',
  title: 'Create a task group',
  tool: 'Begin work that is judged as a whole: its tasks are delivered through a WORK mailbox, and it is decided once, at the first accepted result (FIRST_ACCEPTED), at `threshold` of them (N_ACCEPTED), or when all tasks have ended (ALL_TERMINAL).',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    parentScopeId: optional(id())
      .description("the scope that the group's scope is created in; by default the group is a run of its own")
      .meta({ model: 'its run; left out: one of its own' }),
    mailboxId: id(),
    condition: oneOf(...conditions),
    threshold,
    deadline: optional(moment()),
    workKey: optional(key())
      .description(
        "the maker's name for the group: a known one of the space answers the first group as it stands, with replay true",
      )
      .meta({ model: 'a name for the group: a known one answers the first group' }),
  }),
  success: { 201: CreatedGroup.schema, 200: CreatedGroup.schema },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'MAILBOX_MODE_INVALID',
    'SCOPE_CANCELLED',
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
    workKey: body.workKey ?? '',
    tail: randomTail(),
    scopeTail: randomTail(),
  }),
  reply: raws('id', 'scopeId', 'state', 'known'),
  makes: CreatedGroup,
});

const list = readList({
  path: '/task-groups',
  call: 'group.list',
  summary: 'List task groups, newest first; by state',
  description:
    'With their members and outcomes. A page looks at 1,000 groups and members and 4 MiB of outcomes, so it may be short: ' +
    'continue with `nextCursor` until it is null.',
  script: 'group/list',
  plural: 'groups',
  states: groupStates,
  record: TaskGroup,
  refuses: ['MESSAGES_DAMAGED'],
  detail: damagedDetail,
});

const view = read({
  path: '/task-groups/:groupId',
  call: 'group.view',
  summary: 'A task group: its state, outcome and members with their verdicts',
  description:
    "With `waitSeconds` it answers once the group is DECIDED, or when the time is up. A member's " +
    '`lastError` is what the last nack of its message said, or that its lease ended.',
  title: 'See a task group, wait for its decision',
  tool: 'See a group with its members: states, results (`outcome`), verdicts. With waitSeconds it answers when it is DECIDED (`outcome`: SATISFIED, UNSATISFIABLE, EXPIRED, CANCELLED) or the time is over. Without, find SUCCEEDED members that wait for a verdict.',
  success: { 200: TaskGroup.schema },
  refuses: ['GROUP_NOT_FOUND', 'MESSAGES_DAMAGED'],
  script: 'group/view',
  args: () => ({ isAlone: '' }),
  asRecord: { args: { isAlone: '1' }, without: ['members'] },
  reply: { group: one(TaskGroup) },
  wait: { on: 'groupId', isOver: ({ group }) => group.state === 'DECIDED' },
});

const SealedGroup = record('SealedGroup', {
  groupId,
  state: oneOfField('SEALED'),
  outcome: outcome.means('the decision that this seal made, or null if it made none'),
});

const seal = route({
  method: 'POST',
  path: '/task-groups/:groupId/seal',
  call: 'group.seal',
  summary: 'Close the membership; repeating it answers the same',
  description:
    'No member can be added from then on. A group that has met its condition (ALL_TERMINAL), or can no longer meet it, is ' +
    'decided at once, as SATISFIED or UNSATISFIABLE.',
  title: 'Seal a task group',
  tool: 'Say that no more tasks come. ALL_TERMINAL needs it to be decided; the others need it to find out that they cannot be satisfied any more.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  success: { 200: SealedGroup.schema },
  refuses: ['GROUP_NOT_FOUND', 'GROUP_DECIDED'],
  script: 'group/seal',
  reply: raws('outcome'),
  makes: SealedGroup,
  given: (input) => ({ groupId: param(input, 'groupId'), state: 'SEALED' }),
});

export const groupRoutes: readonly Route[] = [create, list, view, seal, ...taskRoutes];
