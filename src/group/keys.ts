import type { KeyTable } from '../redis/keys.ts';

const withGroup = 'with its group';

export const groupKeys = {
  groups: {
    pattern: 'muster:{org}:<spaceId>:groups',
    type: 'zset',
    holds: 'ids of the task groups, in order of creation (score 0)',
    goes: 'each entry with its group',
  },
  group: {
    pattern: 'muster:{org}:<spaceId>:group:<groupId>',
    type: 'hash',
    holds:
      'scopeId, parentScopeId, mailboxId, condition, threshold, state, outcome, sealOutcome: where the seal itself decided; deadline, createdAt, sealedAt, decidedAt; members, and how many of them are pending, running, succeeded, failed, expired, cancelled, accepted, rejected, unjudged: succeeded without a verdict; absent where not set',
    goes: 'max(retention window, 30 days) after it was decided and its last member was done',
  },
  groupMembers: {
    pattern: 'muster:{org}:<spaceId>:group:<groupId>:members',
    type: 'zset',
    holds: 'taskIds of its members, scored 1, 2, … in the order they became members',
    goes: withGroup,
  },
  taskKeys: {
    pattern: 'muster:{org}:<spaceId>:group:<groupId>:taskKeys',
    type: 'hash',
    holds: 'taskKey to the taskId that was submitted with it',
    goes: withGroup,
  },
  task: {
    pattern: 'muster:{org}:<spaceId>:task:<taskId>',
    type: 'hash',
    holds:
      'a member task: groupId, messageId, scopeId, taskKey, deadline, verdict; state, reason, attempts once it is terminal; absent where not set',
    goes: withGroup,
  },
  gates: {
    pattern: 'muster:{org}:<spaceId>:scope:<scopeId>:gates',
    type: 'zset',
    holds: "gate scopes of the groups whose parent scope it is, in order of creation (score 0): a scope's children",
    goes: 'each entry with its scope',
  },
} satisfies KeyTable;
