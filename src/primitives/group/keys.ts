import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Task, TaskGroup } from './records.ts';

const withGroup = 'with its group';

export const groupKeys = {
  groups: {
    pattern: 'muster:{org}:<spaceNumber>:groups',
    type: 'zset',
    holds: 'ids of the task groups, in order of creation (score 0)',
    goes: 'each entry with its group',
  },
  group: {
    pattern: 'muster:{org}:<spaceNumber>:group:<groupId>',
    type: 'hash',
    holds: fieldsIn(
      TaskGroup,
      'members: their number, and pending, …: how many are in that state; unjudged: succeeded, without a verdict; sealOutcome: if the seal itself decided',
    ),
    goes: 'max(retention window, 30 days) after it was decided and its last member finished',
  },
  groupWorkKeys: {
    pattern: 'muster:{org}:<spaceNumber>:groupWorkKeys',
    type: 'hash',
    holds: 'workKey of a group to groupId',
    goes: 'each entry with its group',
  },
  groupMembers: {
    pattern: 'muster:{org}:<spaceNumber>:group:<groupId>:members',
    type: 'zset',
    holds: 'taskIds of its members, scored 1, 2, … in order of submission',
    goes: withGroup,
  },
  taskKeys: {
    pattern: 'muster:{org}:<spaceNumber>:group:<groupId>:taskKeys',
    type: 'hash',
    holds: 'taskKey to taskId',
    goes: withGroup,
  },
  task: {
    pattern: 'muster:{org}:<spaceNumber>:task:<taskId>',
    type: 'hash',
    holds: fieldsIn(Task, 'a member task; state, reason, attempts: once it is terminal'),
    goes: withGroup,
  },
} satisfies KeyTable;
