import type { KeyTable } from '../redis/keys.ts';

const untilLastWaiter = 'with its last waiter';

export const allowanceKeys = {
  allowances: {
    pattern: 'muster:{org}:<spaceId>:allowances',
    type: 'zset',
    holds: 'ids of the allowances, in order of creation (score 0)',
    goes: 'never',
  },
  allowanceNames: {
    pattern: 'muster:{org}:<spaceId>:allowanceNames',
    type: 'hash',
    holds: 'name to the id of the allowance that has it',
    goes: 'never',
  },
  allowance: {
    pattern: 'muster:{org}:<spaceId>:allowance:<allowanceId>',
    type: 'hash',
    holds:
      'name, unitsLimit, windowSeconds, createdAt; windowStartedAt: the window last used, usedUnits: in it; cooldownUntil (0: none yet), cooldownReason; sequence: counter of its waiters, rebuiltThrough: how far rebuiltQueue has come',
    goes: 'never',
  },
  waiterQueue: {
    pattern: 'muster:{org}:<spaceId>:allowance:<allowanceId>:queue',
    type: 'list',
    holds: 'ids of its waiters, first in first; who is not in :live is a dead entry',
    goes: untilLastWaiter,
  },
  rebuiltQueue: {
    pattern: 'muster:{org}:<spaceId>:allowance:<allowanceId>:rebuilt',
    type: 'list',
    holds: 'the living of :queue, while it is being rebuilt',
    goes: 'when it takes the place of :queue',
  },
  liveWaiters: {
    pattern: 'muster:{org}:<spaceId>:allowance:<allowanceId>:live',
    type: 'zset',
    holds: 'ids of its WAITING waiters, scored by the order they came in',
    goes: untilLastWaiter,
  },
  consumptionKeys: {
    pattern: 'muster:{org}:<spaceId>:allowance:<allowanceId>:workKeys',
    type: 'hash',
    holds:
      'workKey to the consumption that was made with it: `consumptionId scopeId units windowEndsAt availableUnits holder`; all others are but entries of muster:{org}:finished',
    goes: 'each entry with its consumption',
  },
  consumptionTotals: {
    pattern: 'muster:{org}:<spaceId>:scope:<scopeId>',
    type: 'hash',
    holds:
      'beside what the scope itself holds there: consumptions, consumedUnits, of the consumptions of this very scope',
    goes: 'with its scope',
  },
  waiter: {
    pattern: 'muster:{org}:<spaceId>:waiter:<waiterId>',
    type: 'hash',
    holds:
      'allowanceId, scopeId, holder, units, state, expiresAt, grantedAt or finishedAt (absent while it waits), createdAt',
    goes: 'max(retention window, 30 days) after it left the queue',
  },
  scopeWaiters: {
    pattern: 'muster:{org}:<spaceId>:scope:<scopeId>:waiters',
    type: 'zset',
    holds: 'ids of the waiters of this very scope, in order of creation (score 0)',
    goes: 'each entry with its waiter',
  },
  waitingWaiters: {
    pattern: 'muster:{org}:<spaceId>:waiting',
    type: 'zset',
    holds: 'ids of all WAITING waiters, scored by the moment they queued',
    goes: 'with the last WAITING waiter of the space',
  },
  heldGrants: {
    pattern: 'muster:{org}:<spaceId>:heldGrants',
    type: 'zset',
    holds: "ids of GRANTED waiters, scored by their window's end; whoever reads looks at those that end after now",
    goes: 'each entry with later grants or with its waiter',
  },
} satisfies KeyTable;
