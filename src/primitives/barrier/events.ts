import { acted, events } from '../../engine/declare/event.ts';
import { Barrier } from './records.ts';

const { scopeId, state, epoch, arrivals, target } = Barrier.fields;
const asItStands = { scopeId, state, epoch, arrivals, target };

export const barrierEvents = events({
  'barrier.created': asItStands,
  'barrier.arrived': asItStands,
  'barrier.released': asItStands,
  'barrier.cancelled': acted(asItStands),
  'barrier.epoch_advanced': asItStands,
});
