import { events } from '../../engine/declare/event.ts';
import { id, number } from '../../engine/declare/field.ts';
import { Allowance, Consumption, Settlement, Waiter } from './records.ts';

const { unitsLimit, windowSeconds, usedUnits } = Allowance.fields;
const { scopeId, units, availableUnits } = Consumption.fields;
const { settledUnits } = Settlement.fields;
const { allowanceId, state } = Waiter.fields;
const asItStands = { scopeId, allowanceId, units, state };

export const allowanceEvents = events({
  'allowance.created': { unitsLimit, windowSeconds },
  'allowance.limit_changed': { unitsLimit },
  'allowance.consumed': { scopeId, consumptionId: id(), units, availableUnits },
  'allowance.settled': { scopeId, consumptionId: id(), units, settledUnits, availableUnits },
  'allowance.observed': { usedUnits, availableUnits },
  'allowance.cooldown_started': { seconds: number(1).means('the length of the cooldown') },
  'waiter.queued': asItStands,
  'waiter.granted': asItStands,
  'waiter.cancelled': asItStands,
  'waiter.expired': asItStands,
});
