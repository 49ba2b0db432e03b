import type { KeyTable } from '../../engine/library/keys.ts';

export const orgKeys = {
  org: {
    pattern: 'muster:{org}',
    type: 'hash',
    holds:
      'plan and its figures (operations, agents, spaces, runs, tasks, keys, rpm, retentionDays; a number or `unlimited`), unlimited: 1 if calls need not check any of them; used*: their usage; requestsMinute, operationsMonth: the minute and month of these counts; lastSpace: the number of its newest space; nextDue: a lower bound of the next due time; epoch: the generation of its journals; createdAt',
    goes: 'never',
  },
  apiKey: {
    pattern: 'muster:{org}:key:<apiKeyDigest>',
    type: 'hash',
    holds:
      'keyId, name, permissions; spaces, mailboxes, holder (empty: all, any); createdAt, expiresAt, revokedAt; usedDay: the last day, since 1970, on which it was used; usedMinute: the last minute, if more than permissions and spaces limit it; plain: the last one on which nothing limited it but permissions and spaces, and a dot; then its spaces and firstDigest, if it has any; firstDigest: of a key that replaces others, the SHA-256 of the first one; the key itself is not stored',
    goes: 'never',
  },
  apiKeys: {
    pattern: 'muster:{org}:keys',
    type: 'hash',
    holds: 'keyId to the SHA-256 of the key, base64url',
    goes: 'never',
  },
  keyIds: {
    pattern: 'muster:{org}:keyIds',
    type: 'zset',
    holds: 'keyIds, all with score 0',
    goes: 'never',
  },
  endingKeys: {
    pattern: 'muster:{org}:endingKeys',
    type: 'zset',
    holds: 'the SHA-256 of keys that end and were not revoked, base64url, scored by when they end',
    goes: 'each entry when the key is revoked',
  },
  orgIdempotency: {
    pattern: 'muster:{org}:idempotency:<day>',
    type: 'hash',
    holds: 'the same as in a space, for calls of no space',
    goes: 'two days later, by its expiry',
  },
  links: {
    pattern: 'muster:{org}:links',
    type: 'hash',
    holds:
      'the SHA-256, base64url, of the token in a link to `spaceNumber id`: the record with which its holder may do one thing; the token itself is not stored',
    goes: 'each entry with its record',
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
    holds: '`room:kind:spaceNumber:id` of armed timers, scored by due time',
    goes: 'with its last timer',
  },
  backgroundTimers: {
    pattern: 'muster:{org}:backgroundTimers',
    type: 'zset',
    holds:
      'the same for timers that no call waits for, such as DELAYED messages of a mailbox, dependents still to be freed, and the cancel of a run, scored by when the first is due',
    goes: 'with its last timer',
  },
  finished: {
    pattern: 'muster:{org}:finished',
    type: 'zset',
    holds:
      '`room:kind:spaceNumber:id` of finished records, scored by when they finished; a consumption has no record: its id is followed by `allowanceId scopeId units` and its workKey',
    goes: 'each entry with its record',
  },
  closed: {
    pattern: 'muster:{org}:closed',
    type: 'zset',
    holds: 'the same for closed reservations, which are kept longer than other records',
    goes: 'each entry with its record',
  },
  audit: {
    pattern: 'muster:{org}:audit',
    type: 'stream',
    holds:
      'changes: what was done (action), by whom (actor: a keyId, `oidc:` and the subject of a token, or `cli`), to what (target), and how (detail)',
    goes: 'entries after 365 days',
  },
  format: {
    pattern: 'muster:format',
    type: 'string',
    holds: 'the format of the stored records; versions of Muster with another format do not start on this store',
    goes: 'never',
  },
  orgs: { pattern: 'muster:orgs', type: 'set', holds: 'all organizations', goes: 'never' },
  due: {
    pattern: 'muster:due',
    type: 'zset',
    holds: 'organizations, scored by a lower bound of their next due time; `!org` while one is being swept',
    goes: 'with the last due timer',
  },
} satisfies KeyTable;
