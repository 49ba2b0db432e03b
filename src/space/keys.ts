import type { KeyTable } from '../redis/keys.ts';

export const spaceKeys = {
  space: {
    pattern: 'muster:{org}:<spaceId>',
    type: 'hash',
    holds:
      'name, createdAt; the six limits; requestsMinute, usedRequests: the rate of that minute; the census, `kind:STATE` to a count; retainedBytes',
    goes: 'never',
  },
  usage: {
    pattern: 'muster:{org}:<spaceId>:usage:<date>',
    type: 'hash',
    holds: 'call name to operations of that UTC day; uncounted: renewals, replays and empty polls',
    goes: 'after 400 days',
  },
  idempotency: {
    pattern: 'muster:{org}:<spaceId>:idempotency:<idempotencyDigest>',
    type: 'string',
    holds: 'fingerprint of the request (22 characters), its moment (13), what the answer is rebuilt from (msgpack)',
    goes: 'after 24 hours',
  },
  scope: {
    pattern: 'muster:{org}:<spaceId>:scope:<scopeId>',
    type: 'hash',
    holds: 'path: ids from the root to this scope; live: READY and CLAIMED messages and WAITING waiters of the subtree; createdAt',
    goes: 'when idle and empty for max(retention window, 30 days)',
  },
  events: {
    pattern: 'muster:{org}:<spaceId>:events',
    type: 'stream',
    holds: 'the journal: type, aggregateId, scopeId, requestId, payload; the entry id carries the moment',
    goes: 'entries after max(retention window, 30 days)',
  },
} satisfies KeyTable;
