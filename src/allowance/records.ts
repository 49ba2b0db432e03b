import { iso, isoOrNull } from '../declare/moment.ts';
import type { Value, Values } from '../declare/value.ts';

/** An allowance: what allowance.view of the scripts returns. */
export function allowanceRecord(values: Values): object {
  const [
    name,
    unitsLimit,
    windowSeconds,
    windowStartedAt,
    usedUnits,
    cooldownUntil,
    cooldownReason,
    waiting,
    createdAt,
    id,
  ] = values;
  return {
    id,
    name,
    unitsLimit: Number(unitsLimit),
    windowSeconds: Number(windowSeconds),
    windowStartedAt: iso(windowStartedAt),
    windowEndsAt: iso(Number(windowStartedAt) + Number(windowSeconds) * 1000),
    usedUnits: Number(usedUnits),
    availableUnits: Number(unitsLimit) - Number(usedUnits),
    cooldownUntil: isoOrNull(cooldownUntil),
    cooldownReason: cooldownReason === '' ? null : cooldownReason,
    waiting: Number(waiting),
    createdAt: iso(createdAt),
  };
}

/** A waiter: what waiter.view of the scripts returns. */
export function waiterRecord(id: Value | undefined, values: Values): object {
  const [allowanceId, scopeId, holder, units, state, expiresAt, grantedAt, createdAt, position] = values;
  return {
    id,
    waiterId: id,
    allowanceId,
    scopeId,
    holder,
    units: Number(units),
    state,
    position,
    expiresAt: iso(expiresAt),
    grantedAt: isoOrNull(grantedAt),
    createdAt: iso(createdAt),
  };
}
