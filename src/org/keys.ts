import type { KeyTable } from '../redis/keys.ts';

export const orgKeys = {
  org: {
    pattern: 'muster:{org}',
    type: 'hash',
    holds:
      "plan and its figures (operations, agents, spaces, runs, tasks, keys, rpm, retentionDays; a number or `unlimited`), unlimited: 1 where calls need look at none of them, used*: what is in use of them, requestsMinute, operationsMonth, lastSpace: the number of its newest space, nextDue: no timer is due earlier, epoch: the journals' generation, createdAt",
    goes: 'never',
  },
  apiKey: {
    pattern: 'muster:{org}:key:<apiKeyDigest>',
    type: 'hash',
    holds: 'keyId, name, permissions, spaces (empty: all), createdAt, revokedAt; the key itself is kept nowhere',
    goes: 'never',
  },
  apiKeys: {
    pattern: 'muster:{org}:keys',
    type: 'hash',
    holds: 'keyId to the SHA-256 of the key, base64url',
    goes: 'never',
  },
  spaces: {
    pattern: 'muster:{org}:spaces',
    type: 'zset',
    holds: 'ids of the spaces, scored by their number: 1, 2, … in order of creation',
    goes: 'never',
  },
  timers: {
    pattern: 'muster:{org}:timers',
    type: 'zset',
    holds: '`room:kind:spaceNumber:id`, scored by the moment it is due',
    goes: 'with its last timer',
  },
  backgroundTimers: {
    pattern: 'muster:{org}:backgroundTimers',
    type: 'zset',
    holds: 'the same for timers that no call waits for: a mailbox with DELAYED messages, by the moment of its first',
    goes: 'with its last timer',
  },
  finished: {
    pattern: 'muster:{org}:finished',
    type: 'zset',
    holds:
      '`room:kind:spaceNumber:id` of finished records, scored by the moment they finished; a consumption has no record, its id is followed by `allowanceId scopeId units` and its workKey',
    goes: 'each entry with its record',
  },
  closed: {
    pattern: 'muster:{org}:closed',
    type: 'zset',
    holds:
      'the same for closed reservations, which are kept longer than everything else: none stands in the way of others',
    goes: 'each entry with its record',
  },
  audit: {
    pattern: 'muster:{org}:audit',
    type: 'stream',
    holds: 'what was changed (action), by whom (actor: a keyId or `cli`), on what (target), how (detail)',
    goes: 'entries after 365 days',
  },
  format: {
    pattern: 'muster:format',
    type: 'string',
    holds: 'the format that everything here is written in: a process that knows another one does not start on it',
    goes: 'never',
  },
  orgs: { pattern: 'muster:orgs', type: 'set', holds: 'all organizations', goes: 'never' },
  due: {
    pattern: 'muster:due',
    type: 'zset',
    holds: 'organizations, scored by a moment not after their next due timer; `!org` while one is being swept',
    goes: 'with the last due timer',
  },
} satisfies KeyTable;
