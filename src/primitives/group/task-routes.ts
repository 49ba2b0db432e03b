import { flag, number, oneOf, raws, text } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import { fields, flag as flagField, id, key, opaque, optional } from '../../engine/route/fields.ts';
import { type Route, route } from '../../engine/route/route.ts';
import { leftToMailbox, whenAndHowOften } from '../mailbox/fields.ts';
import { optionArgs } from '../mailbox/options.ts';
import { whatItIsAfter } from '../mailbox/prerequisites.ts';
import { permissionsToSend, whatItRequires } from '../mailbox/requirements.ts';
import { Task, TaskGroup } from './records.ts';

const { messageId } = Task.fields;
const taskId = Task.fields.taskId.named('taskId');
const { id: groupId, scopeId, state, outcome } = TaskGroup.fields;
const groupState = state.means("the group's state");
const members = number().means('the members of the group');

const SubmittedTask = record('SubmittedTask', {
  id: taskId,
  taskId,
  taskKey: text().example('order-4711'),
  groupId,
  messageId,
  scopeId,
  state: Task.fields.state,
  replay: flag().named('known'),
});

const submit = route({
  method: 'POST',
  path: '/task-groups/:groupId/tasks',
  call: 'task.submit',
  summary: "Submit a member task, delivered through the group's mailbox",
  description:
    "The member's message is sent to the group's mailbox, in the group's scope. `deadline`, `delaySeconds`, " +
    '`maxAttempts`, `priority`, `key`, `after`, `onFailure` and `requires` work as for a send.',
  title: 'Submit a task',
  tool: 'Add a task to an open group. `input` is what the worker gets as payload; taskKey names the task within the group.',
  permission: 'coordination_write',
  permissionsFor: permissionsToSend,
  idempotency: 'required',
  body: fields({
    taskKey: key()
      .description("the caller's name for the task, unique in its group")
      .meta({ model: 'unique in its group' })
      .example('order-4711'),
    input: opaque().optional().description('the payload for the receiver'),
    ...whenAndHowOften,
    ...whatItIsAfter,
    ...whatItRequires,
    unique: optional(flagField(), false)
      .description(
        'whether a known taskKey answers 200 with its member as it stands, also when the group is not OPEN, instead of TASK_KEY_CONFLICT',
      )
      .meta({ model: 'a known taskKey answers its member instead of a refusal' }),
  }),
  opaque: ['input'],
  notInTool: leftToMailbox,
  success: { 201: SubmittedTask.schema, 200: SubmittedTask.schema },
  refuses: [
    'GROUP_NOT_FOUND',
    'SCOPE_CANCELLED',
    'GROUP_NOT_OPEN',
    'TASK_KEY_CONFLICT',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'GROUP_FULL',
    'BACKLOG_FULL',
    'TIMERS_FULL',
    'ACTIVE_TASKS_LIMITED',
    'RETAINED_BYTES_EXCEEDED',
    'MESSAGES_DAMAGED',
    'MESSAGE_NOT_FOUND',
    'SCOPE_NOT_FOUND',
    'PREREQUISITE_FAILED',
    'DEPENDENTS_FULL',
    'POOL_NOT_FOUND',
    'ALLOWANCE_NOT_FOUND',
    'UNITS_EXCEED_LIMIT',
  ],
  refusesInBody: ['GROUP_NOT_FOUND'],
  script: 'group/submit',
  args: ({ body, trace }) => ({
    taskKey: body.taskKey,
    input: body.input ?? '',
    ...optionArgs(body, trace),
    unique: body.unique ? '1' : '',
    tail: randomTail(),
    taskTail: randomTail(),
  }),
  reply: raws('taskId', 'messageId', 'scopeId', 'state', 'known'),
  makes: SubmittedTask,
  given: (input) => ({ taskKey: input.body.taskKey, groupId: param(input, 'groupId') }),
});

const JudgedTask = record('JudgedTask', {
  taskId,
  verdict: oneOf('ACCEPTED', 'REJECTED'),
  groupId,
  groupState,
  outcome,
});

function judge(
  what: 'accept' | 'reject',
  verdict: 'ACCEPTED' | 'REJECTED',
  words: Pick<Route, 'summary' | 'description' | 'title' | 'tool' | 'isDestructive' | 'isRepeatable'>,
): Route {
  return route({
    method: 'POST',
    path: `/task-groups/:groupId/tasks/:taskId/${what}`,
    call: `task.${what}`,
    ...words,
    permission: 'coordination_write',
    idempotency: 'optional',
    rate: 'recovery',
    example: { verdict },
    success: { 200: JudgedTask.schema },
    refuses: [
      'GROUP_NOT_FOUND',
      'TASK_NOT_FOUND',
      'VERDICT_CONFLICT',
      what === 'accept' ? 'TASK_NOT_SUCCEEDED' : 'TASK_NOT_TERMINAL',
    ],
    script: 'group/verdict',
    args: () => ({ verdict }),
    reply: raws('groupState', 'outcome'),
    makes: JudgedTask,
    given: (input) => ({ taskId: param(input, 'taskId'), verdict, groupId: param(input, 'groupId') }),
  });
}

const JoinedTask = record('JoinedTask', { groupId, groupState, taskId, members });

const join = route({
  method: 'POST',
  path: '/task-groups/:groupId/join-task',
  call: 'group.join',
  summary: 'Make a task a member of an OPEN group; the task must be PENDING, RUNNING or SUCCEEDED and in no group',
  description:
    'The task keeps its mailbox and its scope, and is a member in every other respect. Repeating the call is fine, ' +
    'after the seal, too.',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({ taskId: id() }),
  success: { 200: JoinedTask.schema },
  refuses: [
    'GROUP_NOT_FOUND',
    'SCOPE_CANCELLED',
    'GROUP_NOT_OPEN',
    'TASK_NOT_FOUND',
    'TASK_NOT_JOINABLE',
    'OPERATIONS_EXHAUSTED',
    'GROUP_FULL',
    'MESSAGES_DAMAGED',
  ],
  script: 'group/join',
  args: ({ body }) => body,
  reply: raws('groupState', 'members'),
  makes: JoinedTask,
  given: (input) => ({ groupId: param(input, 'groupId'), taskId: input.body.taskId }),
});

/** The calls for members of a group. */
export const taskRoutes: readonly Route[] = [
  submit,
  judge('accept', 'ACCEPTED', {
    summary: 'Accept the result of a SUCCEEDED member; the first verdict stands',
    description:
      "The accept that makes the group's condition true decides it, and cancels the members that nobody is working on. The " +
      'same verdict again is fine; the opposite one is refused (`VERDICT_CONFLICT`).',
    title: 'Accept a result',
    tool: 'Judge a SUCCEEDED task of a group as good. Look at its `outcome` with group_view first: the first verdict stands, and it may decide the group.',
    isRepeatable: true,
  }),
  judge('reject', 'REJECTED', {
    summary: 'Reject a member that is done, however it ended; the first verdict stands',
    description:
      'If a sealed group can then no longer meet its condition, it is decided as UNSATISFIABLE. The same verdict ' +
      'again is fine; the opposite one is refused (`VERDICT_CONFLICT`).',
    title: 'Reject a result',
    tool: 'Judge a task of a group that has ended as not good enough. The first verdict stands; the group goes on with its other tasks.',
    isDestructive: true,
    isRepeatable: true,
  }),
  join,
];
