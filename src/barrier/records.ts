import { iso, isoOrNull, momentOfId } from '../redis/moment.ts';
import type { Value, Values } from '../redis/reply.ts';

/** A barrier, in the order of lua/barrier/_barrier. */
export function barrierRecord(id: Value | undefined, values: Values): object {
  const [scopeId, state, epoch, arrivals, target, releasedAt] = values;
  return {
    id,
    scopeId,
    state,
    epoch: Number(epoch),
    arrivals: Number(arrivals),
    target: Number(target),
    createdAt: iso(momentOfId(id)),
    releasedAt: isoOrNull(releasedAt),
  };
}
