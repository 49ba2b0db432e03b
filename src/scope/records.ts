import { waiterRecord } from '../allowance/records.ts';
import { Barrier } from '../barrier/records.ts';
import { reservationRecord } from '../budget/records.ts';
import { iso } from '../declare/moment.ts';
import type { Reply, Value } from '../declare/value.ts';
import { TaskGroupSummary } from '../group/records.ts';
import { pageOf } from '../http/page.ts';
import { MessageSummary } from '../mailbox/records.ts';

/** A scope as lua/scope/_subtree gives it. */
function scopeRecord([parentScopeId, live, createdAt, , , , id]: readonly Value[]): object {
  return { id, parentScopeId, state: Number(live) > 0 ? 'ACTIVE' : 'IDLE', createdAt: iso(createdAt) };
}

function reservationRow([budgetId, values]: readonly Value[]): object {
  return reservationRecord(String(budgetId), values as Value[]);
}

function waiterRow([id, values]: readonly Value[]): object {
  return waiterRecord(id, values as Value[]);
}

/** The answer of the run view. */
export function runRecord([scopes, messages, groups, barriers, reservations, waiters, sums, truncated]: Reply): object {
  const [scope, ...below] = pageOf.rows(scopes).map(scopeRecord);
  const [count, units] = sums as Value[];
  return {
    scope,
    scopes: below,
    messages: pageOf.rows(messages).map((row) => MessageSummary.read(row)),
    groups: pageOf.rows(groups).map((row) => TaskGroupSummary.read(row)),
    barriers: pageOf
      .rows(barriers)
      .map(([scopeId, state, epoch, arrivals, target, releasedAt, id]) =>
        Barrier.of({ scopeId, state, epoch, arrivals, target, releasedAt, id }),
      ),
    reservations: pageOf.rows(reservations).map(reservationRow),
    waiters: pageOf.rows(waiters).map(waiterRow),
    consumptions: { count, units },
    truncated: truncated === 1,
  };
}
