import { fieldsIn } from '../declare/record.ts';
import type { KeyTable } from '../redis/keys.ts';
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
    holds: 'name to the id of the allowance that has it',
    goes: 'never',
  },
  allowance: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>',
    type: 'hash',
    holds: fieldsIn(
      Allowance,
      'windowStartedAt: the window last used, usedUnits: in it; sequence: counter of its waiters; rebuiltThrough: how far rebuiltQueue has come',
    ),
    goes: 'never',
  },
  waiterQueue: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:queue',
    type: 'list',
    holds: 'ids of its waiters, first in first; who is not in :live is a dead entry',
    goes: untilLastWaiter,
  },
  rebuiltQueue: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:rebuilt',
    type: 'list',
    holds: 'the living of :queue, while it is being rebuilt',
    goes: 'when it takes the place of :queue',
  },
  liveWaiters: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:live',
    type: 'zset',
    holds: 'ids of its WAITING waiters, scored by the order they came in',
    goes: untilLastWaiter,
  },
  waiterUnits: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:units',
    type: 'zset',
    holds:
      'ids of its WAITING waiters, scored by the units they wait for: the limit is never set below the most of them',
    goes: untilLastWaiter,
  },
  consumptionKeys: {
    pattern: 'muster:{org}:<spaceNumber>:allowance:<allowanceId>:workKeys',
    type: 'hash',
    holds:
      'workKey to the consumption that was made with it: `consumptionId scopeId units windowEndsAt availableUnits holder`; all others are but entries of muster:{org}:finished',
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
    holds: 'ids of the waiters of this very scope, in order of creation (score 0)',
    goes: 'each entry with its waiter',
  },
  waitingWaiters: {
    pattern: 'muster:{org}:<spaceNumber>:waiting',
    type: 'zset',
    holds: 'ids of all WAITING waiters, scored by the moment they queued',
    goes: 'with the last WAITING waiter of the space',
  },
  heldGrants: {
    pattern: 'muster:{org}:<spaceNumber>:heldGrants',
    type: 'zset',
    holds: "ids of GRANTED waiters, scored by their window's end; whoever reads looks at those that end after now",
    goes: 'each entry with later grants or with its waiter',
  },
} satisfies KeyTable;
