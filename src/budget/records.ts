import { iso, isoOrNull, momentOfId } from '../declare/moment.ts';
import type { Reply, Value, Values } from '../declare/value.ts';
import { type Answer, type Input, param } from '../http/route.ts';

/** The four balances, in the order of the scripts. */
export function balancesRecord(values: Value | undefined): object {
  const [limit, reserved, settled, available] = (values ?? []) as Value[];
  return { limit, reserved, settled, available };
}

/** A budget of the list and view scripts. */
export function budgetRecord(values: Values): object {
  const [name, currency, scale, limitMinor, reserved, settled, available, createdAt, id] = values;
  return {
    id,
    name,
    currency,
    scale: Number(scale),
    limitMinor,
    balances: { limit: limitMinor, reserved, settled, available },
    createdAt: iso(createdAt),
  };
}

/** A reservation, in the order of lua/budget/_reservation. */
export function reservationRecord(budgetId: string, values: Values): object {
  const [scopeId, holder, amountMinor, settledMinor, voidedMinor, remainingMinor, state, ...rest] = values;
  const [settleBy, overdue, closedAt, id] = rest;
  return {
    id,
    budgetId,
    scopeId,
    holder,
    amountMinor,
    settledMinor,
    voidedMinor,
    remainingMinor,
    state,
    settleBy: isoOrNull(settleBy),
    overdue: overdue === '1',
    createdAt: iso(momentOfId(id)),
    closedAt: isoOrNull(closedAt),
  };
}

/** What settle and void answer. */
export function entryAnswer(kind: 'SETTLE' | 'VOID') {
  return (
    values: Reply,
    input: Input<unknown, { reservationId: string; workKey: string }>,
    replayed: boolean,
  ): Answer => {
    const [id, amountMinor, known, reservation, balances] = values;
    const budgetId = param(input, 'budgetId');
    const { reservationId, workKey } = input.body;
    const entry = { id, budgetId, reservationId, kind, amountMinor, workKey, createdAt: iso(momentOfId(id)) };
    return {
      status: 200,
      body: {
        entry,
        replay: replayed || known === 1,
        reservation: reservationRecord(budgetId, reservation as Value[]),
        balances: balancesRecord(balances),
      },
    };
  };
}
