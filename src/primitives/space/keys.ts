import { type KeyTable, keyName } from '../../engine/library/keys.ts';

export const spaceKeys = {
  space: {
    pattern: 'muster:{org}:<spaceId>',
    type: 'hash',
    holds:
      'number: its place among the spaces, with which its other keys begin; name, createdAt; the six limits; requestsMinute, usedRequests: the requests of that minute; nextLease: a lower bound of the end of its claims; the census, `kind:STATE` to a count, and `events:<type>`, how often that has happened; unackedTotal, requeuedTotal, ackedRemoved: claims that ended other than by a completion, messages brought back, ACKED ones removed by retention; figuresMinute: the minute in which a message was last sent, was claimed or ended; retainedBytes; usageDay, `op:<call>`, uncounted: the usage of that day; retainedThrough: the journal entry up to which finished messages were removed; trimmedThrough: the last entry trimmed; packedThrough: the last one that was packed; idempotencyFrom: the first day of which there are idempotency records',
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
      "answers to requests with an Idempotency-Key on that day since 1970: digest of the key, followed by the caller's name (7 characters) if another caller's is there already, to fingerprint of the request (10 characters), its time (4 bytes), the reply (MessagePack; see lib/idempotency), the caller's name and the byte 192; without the last two it is of an earlier version, and for every caller",
    goes: 'two days later; each answer is valid for 24 hours',
  },
  events: {
    pattern: 'muster:{org}:<spaceNumber>:events',
    type: 'stream',
    holds:
      "the journal: the event's type, and `aggregateId scopeId requestId` (`~` for none) with the other members of the payload as `name=value` (`=`: the aggregateId); the entry's id contains its time",
    goes: 'entries when they are packed, after SEAL_AFTER_SECONDS; otherwise after max(retention window, 30 days)',
  },
  eventSegments: {
    pattern: 'muster:{org}:<spaceNumber>:eventSegments',
    type: 'stream',
    holds:
      "the index of the journal's segments, oldest first: id: the segment's last event; first: its first event; count; digest: of its content (SHA-256, 16 digits)",
    goes: 'each entry with its segment',
  },
  eventSegment: {
    pattern: 'muster:{org}:<spaceNumber>:eventSegment:<last>',
    type: 'string',
    holds: 'about 1,000 packed events: deflated lines `id type text` (`muster events` prints them)',
    goes: 'when the last of its events is older than max(retention window, 30 days)',
  },
} satisfies KeyTable;

/** The channel that announces writes to a space's journal. It is named after the key of the space's record. */
export function channelOf(org: string, spaceId: string): string {
  return keyName(spaceKeys.space, { org, spaceId });
}
