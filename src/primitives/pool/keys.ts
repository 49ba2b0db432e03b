import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Hold, Pool } from './records.ts';

const untilLastWaiting = 'with its last WAITING hold';
const withHold = 'each entry with its hold';

export const poolKeys = {
  pools: {
    pattern: 'muster:{org}:<spaceNumber>:pools',
    type: 'zset',
    holds: 'ids of the pools, in order of creation (score 0)',
    goes: 'each entry with its pool',
  },
  poolNames: {
    pattern: 'muster:{org}:<spaceNumber>:poolNames',
    type: 'hash',
    holds: 'name to poolId',
    goes: 'each entry with its pool',
  },
  pool: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>',
    type: 'hash',
    holds: fieldsIn(Pool, 'sequence: a counter of waiting holds; rebuiltThrough: the progress of :rebuilt'),
    goes: 'when it is deleted',
  },
  poolQueue: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>:queue',
    type: 'list',
    holds: 'ids of its waiting holds, oldest first; ids that are not in :live no longer wait',
    goes: untilLastWaiting,
  },
  rebuiltPoolQueue: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>:rebuilt',
    type: 'list',
    holds: 'the ids of :queue that are in :live, while :queue is being rebuilt',
    goes: 'when it replaces :queue',
  },
  liveHolds: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>:live',
    type: 'zset',
    holds: 'ids of its WAITING holds, scored by their order of arrival',
    goes: untilLastWaiting,
  },
  holdUnits: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>:units',
    type: 'zset',
    holds: 'ids of its WAITING holds, scored by the units they wait for: the pool cannot get fewer than the largest',
    goes: untilLastWaiting,
  },
  heldHolds: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>:held',
    type: 'zset',
    holds: 'ids of its HELD holds, scored by their fence',
    goes: 'with its last HELD hold',
  },
  poolClaims: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>:claims',
    type: 'zset',
    holds: 'ids of the CLAIMED messages that hold units of it, scored by their fence',
    goes: 'each entry with its claim',
  },
  poolHolds: {
    pattern: 'muster:{org}:<spaceNumber>:pool:<poolId>:holds',
    type: 'zset',
    holds: 'ids of its holds, in order of creation (score 0)',
    goes: withHold,
  },
  hold: {
    pattern: 'muster:{org}:<spaceNumber>:hold:<holdId>',
    type: 'hash',
    holds: fieldsIn(Hold, 'made at the moment of its id'),
    goes: '24 hours after finishedAt',
  },
  holds: {
    pattern: 'muster:{org}:<spaceNumber>:holds',
    type: 'zset',
    holds: 'ids of all holds, in order of creation (score 0)',
    goes: withHold,
  },
  scopeHolds: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:holds',
    type: 'zset',
    holds: 'ids of the holds of this scope, not of scopes below it, in order of creation (score 0)',
    goes: withHold,
  },
  waitingHolds: {
    pattern: 'muster:{org}:<spaceNumber>:waitingHolds',
    type: 'zset',
    holds: 'ids of all WAITING holds, scored by when they queued',
    goes: 'with the last WAITING hold of the space',
  },
  waitingHolders: {
    pattern: 'muster:{org}:<spaceNumber>:waitingHolders',
    type: 'zset',
    holds:
      'WAITING holds that have a session as their root scope, a blank, holder, session and id with tabs between (score 0): what a holder waits for',
    goes: 'with the last such hold of the space',
  },
  holdLeases: {
    pattern: 'muster:{org}:<spaceNumber>:holdLeases',
    type: 'zset',
    holds: 'ids of all HELD holds, scored by the end of their lease; they share one timer, `pool:lease:spaceNumber:`',
    goes: 'with the last HELD hold of the space',
  },
  finishedHolds: {
    pattern: 'muster:{org}:<spaceNumber>:finishedHolds',
    type: 'zset',
    holds: 'ids of finished holds, scored by when they finished',
    goes: withHold,
  },
} satisfies KeyTable;
