import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Allowance, Waiter } from './records.ts';

const untilLastWaiter = 'with its last waiter';

export const allowanceKeys = {
  allowances: {
    pattern: 'muster:{org}:<spaceNumber>:allowances',
    type: 'zset',
    holds: 'ids of the allowances, in order of creation (score 0)',
    goes: 'never',
  },
  allowanceNames: {
    pattern: 'muster:{org}:<spaceNumber>:allowanceNames',
    type: 'hash',
    holds: 'name to allowanceId',
    goes: 'never',
  },
  allowance: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>',
    type: 'hash',
    holds: fieldsIn(
      Allowance,
      'windowStartedAt: the last window with usage; usedUnits: its usage; sequence: a counter of waiters; rebuiltThrough: the progress of :rebuilt',
    ),
    goes: 'never',
  },
  waiterQueue: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:queue',
    type: 'list',
    holds: 'ids of its waiters, oldest first; ids that are not in :live no longer wait',
    goes: untilLastWaiter,
  },
  rebuiltQueue: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:rebuilt',
    type: 'list',
    holds: 'the ids of :queue that are in :live, while :queue is being rebuilt',
    goes: 'when it replaces :queue',
  },
  liveWaiters: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:live',
    type: 'zset',
    holds: 'ids of its WAITING waiters, scored by their order of arrival',
    goes: untilLastWaiter,
  },
  waiterUnits: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:units',
    type: 'zset',
    holds: 'ids of its WAITING waiters, scored by the units they wait for: the limit cannot be set below the largest',
    goes: untilLastWaiter,
  },
  consumptionKeys: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:workKeys',
    type: 'hash',
    holds:
      'workKey to its consumption: `consumptionId scopeId units windowEndsAt availableUnits holder`; consumptions without a workKey are only entries of muster:{org}:finished, `consumptionId allowanceId scopeId units`, once settled `units/settledUnits`, and the workKey',
    goes: 'each entry with its consumption',
  },
  waiter: {
    pattern: 'muster:{org}:<spaceNumber>:waiter:<waiterId>',
    type: 'hash',
    holds: fieldsIn(Waiter),
    goes: 'max(retention window, 30 days) after it left the queue',
  },
  scopeWaiters: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:waiters',
    type: 'zset',
    holds: 'ids of the waiters of this scope, not of scopes below it, in order of creation (score 0)',
    goes: 'each entry with its waiter',
  },
  waitingWaiters: {
    pattern: 'muster:{org}:<spaceNumber>:waiting',
    type: 'zset',
    holds: 'ids of all WAITING waiters, scored by when they queued',
    goes: 'with the last WAITING waiter of the space',
  },
  heldGrants: {
    pattern: 'muster:{org}:<spaceNumber>:heldGrants',
    type: 'zset',
    holds: "ids of GRANTED waiters, scored by their window's end; those that ended count no more",
    goes: 'each entry with later grants or with its waiter',
  },
} satisfies KeyTable;
