import { advised, type ErrorTable, entry } from '../../engine/route/errors.ts';

export const groupErrors: ErrorTable = {
  GROUP_NOT_FOUND: entry(
    404,
    (field) =>
      `there is no such task group in this space${field === '' ? '' : `: ${field} must name groups that exist`}`,
  ),
  TASK_NOT_FOUND: advised('look the taskId up with group_view', 404, (field) =>
    field === ''
      ? 'the group has no such member task'
      : `there is no such task in this space: ${field} must be the id of one`,
  ),
  MAILBOX_MODE_INVALID: entry(
    409,
    'mailboxId must be the id of a WORK mailbox: tasks are not delivered through an INBOX',
  ),
  GROUP_NOT_OPEN: entry(409, (state) => `the group is ${state}: only an OPEN group takes members`),
  GROUP_DECIDED: advised(
    'the group has its decision and needs no more; a message of it that you hold: complete it or give it back',
    409,
    (detail) => {
      const [outcome, whose] = detail.split(' ');
      if (whose === 'claim')
        return `the group of this member was decided (${outcome}): nobody waits for an answer, so complete or give back the message`;
      return whose === 'member'
        ? `the group of this member was decided (${outcome}): its members can't be requeued`
        : `the group was decided (${outcome}) before it was sealed`;
    },
  ),
  GROUP_FULL: entry(409, (limit) => `the group has the maximum of ${limit} members: submit to another group`),
  TASK_KEY_CONFLICT: advised(
    'the task is in the group already: if it is the same one, go on; else choose another key',
    409,
    'the group has a member with this taskKey already: choose another taskKey',
  ),
  TASK_NOT_SUCCEEDED: entry(409, 'only a SUCCEEDED task can be accepted'),
  TASK_NOT_TERMINAL: entry(
    409,
    'the task is not done yet: it must be SUCCEEDED, FAILED, EXPIRED or CANCELLED to be rejected',
  ),
  VERDICT_CONFLICT: entry(409, (verdict) => `the task was ${verdict} already: the first verdict stands`),
  TASK_NOT_JOINABLE: entry(409, (what) =>
    what === 'GROUP'
      ? 'the task is a member of another group'
      : what === 'AFTER'
        ? 'the task waits for this group: it would wait for itself'
        : `the task is ${what}: only a PENDING, RUNNING or SUCCEEDED task can join`,
  ),
};
