import { fields, id, key, moment, opaque, optional } from '../http/fields.ts';
import { route } from '../http/legacy.ts';
import { randomTail } from '../http/random.ts';
import { param, type Route } from '../http/route.ts';
import { groupIdOf } from './records.ts';
import { groupReply } from './schemas.ts';

const submit = route<unknown, { taskKey: string; input?: string; deadline?: number }>({
  method: 'POST',
  path: '/task-groups/:groupId/tasks',
  call: 'task.submit',
  summary: "Submit a member task, delivered through the group's mailbox",
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({ taskKey: key(), input: opaque().optional(), deadline: optional(moment()) }),
  opaque: ['input'],
  success: { 201: groupReply.submitted },
  refuses: [
    'GROUP_NOT_FOUND',
    'GROUP_NOT_OPEN',
    'TASK_KEY_CONFLICT',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'GROUP_FULL',
    'BACKLOG_FULL',
    'TIMERS_FULL',
    'ACTIVE_TASKS_LIMITED',
  ],
  script: 'group/submit',
  args: ({ body }) => ({
    taskKey: body.taskKey,
    input: body.input ?? '',
    deadline: body.deadline ?? '',
    tail: randomTail(),
    taskTail: randomTail(),
  }),
  answer: ([taskId, messageId, scopeId], input) => ({
    status: 201,
    body: {
      id: taskId,
      taskId,
      taskKey: input.body.taskKey,
      ...groupIdOf(input),
      messageId,
      scopeId,
      state: 'PENDING',
    },
  }),
});

function judge(what: 'accept' | 'reject', verdict: 'ACCEPTED' | 'REJECTED', summary: string): Route {
  return route({
    method: 'POST',
    path: `/task-groups/:groupId/tasks/:taskId/${what}`,
    call: `task.${what}`,
    summary,
    permission: 'coordination_write',
    idempotency: 'optional',
    rate: 'recovery',
    success: { 200: groupReply.judged },
    refuses: [
      'GROUP_NOT_FOUND',
      'TASK_NOT_FOUND',
      'VERDICT_CONFLICT',
      what === 'accept' ? 'TASK_NOT_SUCCEEDED' : 'TASK_NOT_TERMINAL',
    ],
    script: 'group/verdict',
    args: () => ({ verdict }),
    answer: ([groupState, outcome], input) => ({
      status: 200,
      body: { taskId: param(input, 'taskId'), verdict, ...groupIdOf(input), groupState, outcome },
    }),
  });
}

const join = route<unknown, { taskId: string }>({
  method: 'POST',
  path: '/task-groups/:groupId/join-task',
  call: 'group.join',
  summary: 'Make an outside task, PENDING, RUNNING or SUCCEEDED and in no group, a member of an OPEN group',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({ taskId: id() }),
  success: { 200: groupReply.joined },
  refuses: [
    'GROUP_NOT_FOUND',
    'GROUP_NOT_OPEN',
    'TASK_NOT_FOUND',
    'TASK_NOT_JOINABLE',
    'OPERATIONS_EXHAUSTED',
    'GROUP_FULL',
  ],
  script: 'group/join',
  args: ({ body }) => body,
  answer: ([groupState, members], input) => ({
    status: 200,
    body: { ...groupIdOf(input), groupState, taskId: input.body.taskId, members },
  }),
});

/** What is done with the members of a group. */
export const taskRoutes: readonly Route[] = [
  submit,
  judge('accept', 'ACCEPTED', 'Accept the result of a SUCCEEDED member; the first verdict stands'),
  judge('reject', 'REJECTED', 'Reject a member that is done, however it ended; the first verdict stands'),
  join,
];
