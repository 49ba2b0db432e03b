import type { KeyTable } from '../redis/keys.ts';

/** What belongs to one very scope, for the run view; children and waiters are indexed by the rooms of groups and allowances. */
export const scopeKeys = {
  scopeMessages: {
    pattern: 'muster:{org}:<spaceId>:scope:<scopeId>:messages',
    type: 'zset',
    holds: 'ids of its messages and of the tombstones of its tasks, in order of creation (score 0)',
    goes: 'each entry with its message or tombstone',
  },
  scopeReservations: {
    pattern: 'muster:{org}:<spaceId>:scope:<scopeId>:reservations',
    type: 'zset',
    holds: 'ids of its reservations, in order of creation (score 0)',
    goes: 'each entry with its reservation',
  },
  scopeBarriers: {
    pattern: 'muster:{org}:<spaceId>:scope:<scopeId>:barriers',
    type: 'zset',
    holds: 'ids of its barriers, in order of creation (score 0)',
    goes: 'each entry with its barrier',
  },
} satisfies KeyTable;
