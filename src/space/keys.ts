import { type KeyTable, keyName } from '../redis/keys.ts';

export const spaceKeys = {
  space: {
    pattern: 'muster:{org}:<spaceId>',
    type: 'hash',
    holds:
      'number: its place among the spaces, with which its other keys begin; name, createdAt; the six limits; requestsMinute, usedRequests: the rate of that minute; nextLease: no claim ends earlier; the census, `kind:STATE` to a count; retainedBytes; usageDay, `op:<call>`, uncounted: usage of that day; retainedThrough: the journal entry up to which finished messages have gone, trimmedThrough: the last one trimmed; idempotencyFrom: the first day whose idempotency records are there',
    goes: 'never',
  },
  usage: {
    pattern: 'muster:{org}:<spaceNumber>:usage:<date>',
    type: 'hash',
    holds:
      '`op:<call>` to operations of that UTC day; uncounted: renewals, replays and empty polls; retainedBytes at its end',
    goes: 'after 400 days',
  },
  usageDays: {
    pattern: 'muster:{org}:<spaceNumber>:usageDays',
    type: 'zset',
    holds: 'dates that have a usage record, scored by the number of days since 1970',
    goes: 'each entry with its record',
  },
  idempotency: {
    pattern: 'muster:{org}:<spaceNumber>:idempotency:<day>',
    type: 'hash',
    holds:
      'what requests with an Idempotency-Key were answered on that day since 1970: digest of the key to fingerprint of the request (10 characters), its moment (4 bytes) and what the answer is made of again (MessagePack; see lib/idempotency)',
    goes: 'two days later; a record counts for 24 hours',
  },
  events: {
    pattern: 'muster:{org}:<spaceNumber>:events',
    type: 'stream',
    holds:
      'the journal: the type, and `aggregateId scopeId requestId` (~ where there is none), and the other members of the payload as `name=value` (`=`: the aggregateId); the entry id carries the moment',
    goes: 'entries after max(retention window, 30 days)',
  },
} satisfies KeyTable;

/** The channel that announces writes to a space's journal. It has the name of the space's record. */
export function channelOf(org: string, spaceId: string): string {
  return keyName(spaceKeys.space, { org, spaceId });
}
