import { type KeyTable, keyName } from '../redis/keys.ts';

export const spaceKeys = {
  space: {
    pattern: 'muster:{org}:<spaceId>',
    type: 'hash',
    holds:
      'name, createdAt; the six limits; requestsMinute, usedRequests: the rate of that minute; nextLease: no claim ends earlier; the census, `kind:STATE` to a count; retainedBytes; usageDay, `op:<call>`, uncounted: usage of that day; retainedThrough: the journal entry up to which finished messages have gone, trimmedThrough: the last one trimmed; idempotencyFrom: the first day whose idempotency records are there',
    goes: 'never',
  },
  usage: {
    pattern: 'muster:{org}:<spaceId>:usage:<date>',
    type: 'hash',
    holds:
      '`op:<call>` to operations of that UTC day; uncounted: renewals, replays and empty polls; retainedBytes at its end',
    goes: 'after 400 days',
  },
  usageDays: {
    pattern: 'muster:{org}:<spaceId>:usageDays',
    type: 'zset',
    holds: 'dates that have a usage record, scored by the number of days since 1970',
    goes: 'each entry with its record',
  },
  idempotency: {
    pattern: 'muster:{org}:<spaceId>:idempotency:<day>',
    type: 'hash',
    holds:
      'what requests with an Idempotency-Key were answered on that day since 1970: digest of the key to fingerprint of the request (10 characters), its moment (4 bytes) and what the answer is made of again (MessagePack; see lib/idempotency)',
    goes: 'two days later; a record counts for 24 hours',
  },
  events: {
    pattern: 'muster:{org}:<spaceId>:events',
    type: 'stream',
    holds:
      'the journal: the type, and `aggregateId scopeId requestId` (~ where there is none), and the other members of the payload as `name=value` (`=`: the aggregateId); the entry id carries the moment',
    goes: 'entries after max(retention window, 30 days)',
  },
} satisfies KeyTable;

/** A space's journal, and the channel on which each write to it is told. */
export function journalKey(org: string, spaceId: string): string {
  return keyName(spaceKeys.events, { org, spaceId });
}
