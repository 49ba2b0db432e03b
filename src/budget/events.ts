import { events } from '../declare/event.ts';
import { id } from '../declare/field.ts';
import { Budget, Entry, Reservation } from './records.ts';

const { limitMinor } = Budget.fields;
const { scopeId, state } = Reservation.fields;
const { reservationId, amountMinor } = Entry.fields;
const ofEntry = { scopeId, reservationId, entryId: id(), state, amountMinor };

export const budgetEvents = events({
  'budget.created': { limitMinor },
  'budget.limit_changed': { limitMinor },
  'budget.reserved': { scopeId, reservationId, state, amountMinor },
  'budget.settled': ofEntry,
  'budget.voided': ofEntry,
  'budget.reservation_overdue': { scopeId, reservationId, state },
});
