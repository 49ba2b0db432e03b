import { id, number, oneOf, opaque, state, text, time } from '../declare/field.ts';
import { many, nested, record } from '../declare/record.ts';
import { groupStates, reason, taskStates } from '../mailbox/records.ts';

export const outcomes = ['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] as const;
export const conditions = ['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL'] as const;

/** A member of a group. Its state, reason and attempts are stored once it is terminal; until then its message has them. */
export const Task = record('Task', {
  taskId: id().named('id'),
  taskKey: text().orNull(),
  state: oneOf(...taskStates),
  verdict: oneOf('ACCEPTED', 'REJECTED').orNull(),
  reason,
  attempts: number().or(0),
  messageId: id(),
  outcome: opaque().orNull().workedOut(),
  lastError: text().orNull().workedOut(),
  deadline: time().orNull(),
  groupId: id().internal(),
  scopeId: id().internal(),
});

export const TaskGroup = record(
  'TaskGroup',
  {
    id: id(),
    groupId: id().named('id'),
    scopeId: id(),
    parentScopeId: id().orNull(),
    mailboxId: id(),
    condition: oneOf(...conditions),
    threshold: number(1).orNull(),
    state: state('groups', ...groupStates),
    outcome: oneOf(...outcomes).orNull(),
    deadline: time().orNull(),
    counts: nested({
      members: number().or(0),
      pending: number().or(0),
      running: number().or(0),
      succeeded: number().or(0),
      failed: number().or(0),
      expired: number().or(0),
      cancelled: number().or(0),
      accepted: number().or(0),
      rejected: number().or(0),
    }),
    members: many(Task).named('tasks').workedOut(),
    createdAt: time(),
    sealedAt: time().orNull(),
    decidedAt: time().orNull(),
    unjudged: number().or(0).internal(),
    sealOutcome: text().orNull().internal(),
  },
  { lua: 'group' },
);

const TaskSummary = Task.without('TaskSummary', 'outcome');

/** A group without the outcomes of its members. */
export const TaskGroupSummary = TaskGroup.with('TaskGroupSummary', {
  members: many(TaskSummary).named('tasks').workedOut(),
});
