import { counted, events } from '../../engine/declare/event.ts';
import { id, number, oneOf } from '../../engine/declare/field.ts';
import { outcomes, Task, TaskGroup } from './records.ts';

const { scopeId, state, mailboxId, condition } = TaskGroup.fields;
const { groupId, messageId, attempts } = Task.fields;
const asItStands = { scopeId, groupId, messageId, state: Task.fields.state, attempts };
const judged = { scopeId, groupId, messageId, state: Task.fields.state, verdict: oneOf('ACCEPTED', 'REJECTED') };

export const groupEvents = events({
  'group.created': { scopeId, state, mailboxId, condition },
  'group.sealed': { scopeId, state },
  'group.task_joined': { scopeId, state, taskId: id(), members: number(1).means('its members') },
  'group.decided': { scopeId, state, outcome: oneOf(...outcomes) },
  'task.submitted': asItStands,
  'task.started': asItStands,
  'task.succeeded': asItStands,
  'task.failed': asItStands,
  'task.expired': asItStands,
  'task.cancelled': counted(asItStands),
  'task.requeued': counted(asItStands),
  'task.accepted': judged,
  'task.rejected': judged,
});
