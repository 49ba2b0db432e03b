import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of budgets mean. Amounts are digit strings in minor units. */
export const budgetGlossary: Glossary = {
  budgetId: "the budget's id",
  reservationId: "the reservation's id",
  entryId: "the ledger entry's id",
  currency: 'the three letters of ISO 4217, or a name of your own for other units',
  scale: 'how many digits of an amount are behind the point: 2 for cents',
  limitMinor: 'the whole budget, in minor units',
  balances: 'what is reserved, spent and left: limit = reserved + settled + available, at every moment',
  'Balances.limit': 'the whole budget, in minor units',
  'Budget.balances.limit': 'the whole budget, in minor units',
  'BudgetView.balances.limit': 'the whole budget, in minor units',
  reserved: 'set aside and not used yet, in minor units',
  settled: 'spent, in minor units',
  available: 'what can still be reserved, in minor units',
  overdrawn:
    'spent beyond the limit, in minor units, and in none of the other balances; nothing is reserved until a new limit covers it',
  overdrawnMinor: 'how much of the amount the budget was overdrawn by, in minor units',
  amountMinor: 'the amount, in minor units, as digits',
  'budget.settle.amountMinor': 'how much was spent, in minor units: digits as text',
  settledMinor: 'how much was spent of it, and beyond it by an overrun, in minor units',
  voidedMinor: 'how much of it was given back, in minor units',
  remainingMinor: 'how much of it is still set aside, in minor units',
  settleBy: 'when it should be settled; later it is marked overdue; null: whenever',
  overdue: 'whether settleBy has passed while something is still set aside',
  'Entry.kind': 'what was done: SETTLE: the amount was spent; VOID: it was given back',
  'Entry.workKey':
    "the caller's name for the entry, unique among the budget's settlements and among its voids: a repetition answers the first one",
  entry: 'the ledger entry that was made',
  reservation: 'the reservation as it now stands',
  budgets: 'the budgets of this page',
  activeReservations: 'how many reservations are still set aside: only a void gives them back',
};
