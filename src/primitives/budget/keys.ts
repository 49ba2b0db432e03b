import { fieldsIn } from '../../engine/declare/record.ts';
import type { KeyTable } from '../../engine/library/keys.ts';
import { Budget, Reservation } from './records.ts';

const withReservation = 'each entry with its reservation';

export const budgetKeys = {
  budgets: {
    pattern: 'muster:{org}:<spaceNumber>:budgets',
    type: 'zset',
    holds: 'ids of the budgets, in order of creation (score 0)',
    goes: 'never',
  },
  budgetNames: {
    pattern: 'muster:{org}:<spaceNumber>:budgetNames',
    type: 'hash',
    holds: 'name to budgetId',
    goes: 'never',
  },
  budget: {
    pattern: 'muster:{org}:<spaceNumber>:budget:<budgetId>',
    type: 'hash',
    holds: fieldsIn(
      Budget,
      'limitMinor = reserved + settled + available; line: the ids of the budgets above it, its parent first; windowStartedAt: the last window in which anything changed, to which settled, available and alerted belong; settledBefore: settled in windows before it; alerted: the percentages that were announced; overdrawn: stored, if only as 0, of every budget with one of these fields',
    ),
    goes: 'never',
  },
  budgetReservations: {
    pattern: 'muster:{org}:<spaceNumber>:budget:<budgetId>:reservations:<state>',
    type: 'zset',
    holds: 'ids of its reservations in that state, in order of creation (score 0)',
    goes: withReservation,
  },
  budgetLabels: {
    pattern: 'muster:{org}:<spaceNumber>:budget:<budgetId>:labels:<windowStartedAt>',
    type: 'hash',
    holds:
      'label to the amount that was spent under it in that window (0: it has none); the field `` has the number of labels',
    goes: 'with the first change in a later window',
  },
  budgetWorkKeys: {
    pattern: 'muster:{org}:<spaceNumber>:budget:<budgetId>:workKeys:<kind>',
    type: 'hash',
    holds:
      'workKey to its entry, `entryId reservationId amountMinor`, with `overdrawnMinor` behind it if there is any (kinds SETTLE and VOID), or to its reservation, `reservationId amountMinor` (kind RESERVE)',
    goes: withReservation,
  },
  reservation: {
    pattern: 'muster:{org}:<spaceNumber>:reservation:<reservationId>',
    type: 'hash',
    holds: fieldsIn(
      Reservation,
      'settledMinor, voidedMinor, overrunMinor: absent is 0; overrunMinor: how much of settledMinor is above what was reserved; firstEntry: `kind workKey` (absent if it was settled only as it was overdue); onOverdue: SETTLE, absent is KEEP',
    ),
    goes: '400 days after closedAt',
  },
  reservationWorkKeys: {
    pattern: 'muster:{org}:<spaceNumber>:reservation:<reservationId>:workKeys',
    type: 'list',
    holds: '`kind workKey` of its entries except the first, so that they can be removed with it',
    goes: 'with its reservation',
  },
  scopeReservations: {
    pattern: 'muster:{org}:<spaceNumber>:scope:<scopeId>:reservations',
    type: 'zset',
    holds: 'ids of its reservations, in order of creation (score 0)',
    goes: 'each entry with its reservation',
  },
} satisfies KeyTable;
