import { acted, events } from '../../engine/declare/event.ts';
import { Hold, isForced, Pool } from './records.ts';

const { units } = Pool.fields;
const { scopeId, poolId, state, fence } = Hold.fields;
const asItStands = { scopeId, poolId, units: Hold.fields.units, state, fence };

export const poolEvents = events({
  'pool.created': { units },
  'pool.updated': { units },
  'pool.deleted': acted({ units }),
  'hold.queued': asItStands,
  'hold.held': asItStands,
  'hold.released': { ...asItStands, forced: isForced },
  'hold.lapsed': asItStands,
  'hold.cancelled': asItStands,
  'hold.expired': asItStands,
});
