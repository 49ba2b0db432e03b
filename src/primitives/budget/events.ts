import { counted, events } from '../../engine/declare/event.ts';
import { id, number } from '../../engine/declare/field.ts';
import { alertPercents, Balances, Budget, Entry, Reservation } from './records.ts';

const { limitMinor } = Budget.fields;
const { scopeId, state } = Reservation.fields;
const { overdrawn } = Balances.fields;
const { reservationId, amountMinor, overdrawnMinor } = Entry.fields;
const entryId = id();
const ofEntry = { scopeId, reservationId, entryId, state, amountMinor };

export const budgetEvents = events({
  'budget.created': { limitMinor },
  'budget.limit_changed': { limitMinor },
  'budget.updated': { alertPercents },
  'budget.threshold_reached': {
    percent: number(1, 100).means('the percentage of the limit that is reserved or settled'),
  },
  'budget.reserved': { scopeId, reservationId, state, amountMinor },
  'budget.settled': ofEntry,
  'budget.voided': ofEntry,
  'budget.overdrawn': counted({ scopeId, reservationId, entryId, overdrawnMinor, overdrawn }),
  'budget.reservation_overdue': { scopeId, reservationId, state },
});
