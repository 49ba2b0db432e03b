import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of tasks and groups mean. */
export const groupGlossary: Glossary = {
  groupId: "the group's id; null: of no group",
  taskId: "the task's id; null: it carries no task",
  taskKey: "the caller's name for the task, unique in its group",
  taskState: "the task's state",
  groupState: 'the state of the group it is a member of; null: of none',
  condition: 'what decides the group: the first accepted task, `threshold` accepted ones, or the end of all',
  threshold: 'how many accepted tasks decide an N_ACCEPTED group',
  outcome: 'how the group was decided; null while it is not',
  'Task.outcome': 'the payload of the result that its worker completed it with; null: none',
  verdict: 'what was said of its result: ACCEPTED or REJECTED; null: nothing yet',
  members: 'how many tasks the group has',
  'TaskGroup.members': 'the tasks of the group',
  'TaskGroupSummary.members': 'the tasks of the group',
  counts: 'how many tasks are in which state',
  pending: 'how many are not worked on yet',
  running: 'how many are worked on',
  succeeded: 'how many were completed',
  failed: 'how many failed or were rejected by their worker',
  expired: 'how many reached their deadline',
  cancelled: 'how many were cancelled',
  accepted: 'how many results were accepted',
  rejected: 'how many results were rejected',
  sealedAt: 'since when no task can be added; null: it is still open',
  decidedAt: 'when it was decided; null: it is not',
};
