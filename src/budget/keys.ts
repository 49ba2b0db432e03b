import type { KeyTable } from '../redis/keys.ts';

const withReservation = 'each entry with its reservation';

export const budgetKeys = {
  budgets: {
    pattern: 'muster:{org}:<spaceId>:budgets',
    type: 'zset',
    holds: 'ids of the budgets, in order of creation (score 0)',
    goes: 'never',
  },
  budgetNames: {
    pattern: 'muster:{org}:<spaceId>:budgetNames',
    type: 'hash',
    holds: 'name to the id of the budget that has it',
    goes: 'never',
  },
  budget: {
    pattern: 'muster:{org}:<spaceId>:budget:<budgetId>',
    type: 'hash',
    holds: 'limitMinor = reserved + settled + available, 64-bit integers; name, currency, scale, createdAt',
    goes: 'never',
  },
  budgetReservations: {
    pattern: 'muster:{org}:<spaceId>:budget:<budgetId>:reservations:<state>',
    type: 'zset',
    holds: 'ids of its reservations in that state, in order of creation (score 0)',
    goes: withReservation,
  },
  budgetWorkKeys: {
    pattern: 'muster:{org}:<spaceId>:budget:<budgetId>:workKeys:<kind>',
    type: 'hash',
    holds: 'workKey to the entry made with it: `entryId reservationId amountMinor`; kind SETTLE or VOID',
    goes: withReservation,
  },
  reservation: {
    pattern: 'muster:{org}:<spaceId>:reservation:<reservationId>',
    type: 'hash',
    holds:
      'budgetId, scopeId, holder, state; remainingMinor; settledMinor, voidedMinor (absent: 0); settleBy, overdue (1), closedAt: absent where not set; firstEntry: `kind workKey`',
    goes: '400 days after closedAt',
  },
  reservationWorkKeys: {
    pattern: 'muster:{org}:<spaceId>:reservation:<reservationId>:workKeys',
    type: 'list',
    holds: '`kind workKey` of its entries but the first, so that they go with it',
    goes: 'with its reservation',
  },
} satisfies KeyTable;
