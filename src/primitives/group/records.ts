import { exampleId, id, number, oneOf, opaque, state, text, time } from '../../engine/declare/field.ts';
import { many, nested, record } from '../../engine/declare/record.ts';
import { groupStates, Message, reason, taskStates } from '../mailbox/records.ts';

export const outcomes = ['SATISFIED', 'UNSATISFIABLE', 'EXPIRED', 'CANCELLED'] as const;
export const conditions = ['FIRST_ACCEPTED', 'N_ACCEPTED', 'ALL_TERMINAL'] as const;

/** A member of a group. Its state, reason and attempts are stored once it has ended; until then its message has them. */
export const Task = record('Task', {
  taskId: id().named('id').forModels('taskId of a member, from group_view').example(exampleId('messageId')),
  taskKey: Message.fields.taskKey,
  state: oneOf(...taskStates),
  verdict: oneOf('ACCEPTED', 'REJECTED').orNull().means('the verdict on its result, or null if there is none yet'),
  reason,
  attempts: number().or(0),
  messageId: id(),
  outcome: opaque().orNull().workedOut().means("the payload of its worker's result, or null if there is none"),
  lastError: Message.fields.lastError.workedOut(),
  deadline: time().orNull(),
  groupId: id().internal(),
  scopeId: id().internal(),
});

export const TaskGroup = record(
  'TaskGroup',
  {
    id: id().forModels('id of the group'),
    groupId: id().named('id'),
    scopeId: id(),
    parentScopeId: id().orNull().means('the scope above it, or null if it is a root'),
    mailboxId: id(),
    workKey: text().orNull().means("its maker's name for it, or null if it has none").example('order-4711'),
    condition: oneOf(...conditions)
      .means('the condition that decides it: the first accepted result, `threshold` of them, or the end of all members')
      .forModels('what decides it'),
    threshold: number(1)
      .orNull()
      .means('the number of accepted results that an N_ACCEPTED group needs; null for another condition'),
    state: state('groups', ...groupStates),
    outcome: oneOf(...outcomes)
      .orNull()
      .means('its decision, or null if it is not decided yet'),
    deadline: time().orNull(),
    counts: nested({
      members: number().or(0).means('its members'),
      pending: number().or(0).means('members that nobody is working on'),
      running: number().or(0).means('members being worked on'),
      succeeded: number().or(0).means('members that were completed'),
      failed: number().or(0).means('members that failed or were rejected by their worker'),
      expired: number().or(0).means('members that reached their deadline'),
      cancelled: number().or(0).means('members that were cancelled'),
      accepted: number().or(0).means('results that were accepted'),
      rejected: number().or(0).means('results that were rejected'),
    }).means('its members by state and verdict'),
    members: many(Task).named('tasks').workedOut(),
    createdAt: time(),
    sealedAt: time().orNull().means('when it was sealed, or null if it is still open'),
    decidedAt: time().orNull().means('when it was decided, or null if it is not decided yet'),
    unjudged: number().or(0).internal(),
    sealOutcome: text().orNull().internal(),
    /** The mailboxes of tasks that joined from elsewhere. */
    otherMailboxes: text().orNull().later().internal(),
  },
  { lua: 'group' },
);

const TaskSummary = Task.without('TaskSummary', 'outcome');

/** A group without the outcomes of its members. */
export const TaskGroupSummary = TaskGroup.with('TaskGroupSummary', {
  members: many(TaskSummary).named('tasks').workedOut(),
});
