import { iso } from '../../engine/declare/field.ts';
import { type ErrorTable, entry } from '../../engine/route/errors.ts';

export const budgetErrors: ErrorTable = {
  BUDGET_NOT_FOUND: entry(404, 'there is no such budget in this space'),
  PARENT_MISMATCH: entry(409, (detail) => {
    const [field, value = '…'] = detail.split(' ');
    return field === 'levels'
      ? `parentBudgetId must be the id of a budget above which there are fewer levels: a tree has at most ${value}`
      : `${field} must equal that of the budget above, ${value}`;
  }),
  BUDGET_EXISTS: entry(409, 'a budget of this space has this name already: choose another name'),
  RESERVATION_NOT_FOUND: entry(409, 'reservationId must be the id of a reservation of this budget'),
  RESERVATION_CLOSED: entry(409, (detail) => {
    const [state, overdue] = detail.split(' ');
    return overdue === undefined
      ? `the reservation is ${state}: nothing is left of it to settle or void`
      : 'the reservation was overdue at its settleBy, and the rest of it was settled then: nothing is left to settle or void';
  }),
  SETTLEMENT_EXCEEDS_RESERVATION: entry(
    409,
    (remaining) =>
      `amountMinor must not exceed the ${remaining} that are left of the reservation, unless overrun is true`,
  ),
  INSUFFICIENT_BUDGET: {
    ...entry(409, (detail) => {
      const [amount = '…', limit = '…', nextAt = '', paid = '0', id = '…', ...name] = detail.split(' ');
      const budget = `budget ${name.join(' ') || '…'} (${id})`;
      if (limit === '-') return `amountMinor must not exceed the ${amount} available in ${budget}`;
      const overdrawn = `${budget} is overdrawn by ${amount}`;
      const needed = `its limitMinor must be at least ${limit} before more can be reserved`;
      if (!/^\d+$/.test(nextAt)) return `${overdrawn}: ${needed}`;
      const part = paid === amount ? 'it' : `${paid} of it`;
      return `${overdrawn}: its next window, at ${iso(Number(nextAt))}, pays ${part}; or a PATCH of limitMinor to at least ${limit}`;
    }),
    advice: (detail) =>
      detail.split(' ')[1] === '-'
        ? 'reserve less, or do not take the step and say so'
        : 'no amount can be reserved before that: do not take the step, and say so',
  },
  LIMIT_BELOW_USE: entry(409, (detail) => {
    const [field, use] = detail.split(' ');
    const waits = { unitsLimit: 'a waiter', units: 'a hold' }[field ?? ''];
    return waits !== undefined
      ? `${field} must be at least ${use}: ${waits} waits for as many units`
      : `limitMinor must be at least ${use}, which is reserved or settled`;
  }),
  WORK_KEY_CONFLICT: entry(
    409,
    (field) => `this workKey was used with another ${field}: repeat that request exactly, or use a new workKey`,
  ),
};
