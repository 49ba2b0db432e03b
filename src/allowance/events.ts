import { events } from '../declare/event.ts';
import { id, number } from '../declare/field.ts';
import { Allowance, Consumption, Waiter } from './records.ts';

const { unitsLimit, windowSeconds } = Allowance.fields;
const { scopeId, units, availableUnits } = Consumption.fields;
const { allowanceId, state } = Waiter.fields;
const asItStands = { scopeId, allowanceId, units, state };

export const allowanceEvents = events({
  'allowance.created': { unitsLimit, windowSeconds },
  'allowance.limit_changed': { unitsLimit },
  'allowance.consumed': { scopeId, consumptionId: id(), units, availableUnits },
  'allowance.cooldown_started': { seconds: number(1).means('the length of the cooldown') },
  'waiter.queued': asItStands,
  'waiter.granted': asItStands,
  'waiter.cancelled': asItStands,
  'waiter.expired': asItStands,
});
