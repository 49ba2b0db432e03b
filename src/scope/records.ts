import { Waiter } from '../allowance/records.ts';
import { Barrier } from '../barrier/records.ts';
import { Reservation } from '../budget/records.ts';
import { iso } from '../declare/moment.ts';
import type { Reply, Value } from '../declare/value.ts';
import { groupRecord } from '../group/records.ts';
import { pageOf } from '../http/page.ts';
import { messageRecord } from '../mailbox/records.ts';

/** A scope as lua/scope/_subtree gives it. */
function scopeRecord([parentScopeId, live, createdAt, , , , id]: readonly Value[]): object {
  return { id, parentScopeId, state: Number(live) > 0 ? 'ACTIVE' : 'IDLE', createdAt: iso(createdAt) };
}

/** A message without its payload and its result; of a tombstone there is little more than state and reason. */
function messageRow(row: readonly Value[]): object {
  const [finishedAt, mailboxId, id] = row.slice(13);
  const values = [...row.slice(0, 8), null, ...row.slice(8, 13), null, finishedAt, id];
  const { payload, result, ...rest } = messageRecord(String(mailboxId), values) as Record<string, unknown>;
  return rest;
}

/** A group without its members' outcomes. */
function groupRow(row: readonly Value[]): object {
  const group = groupRecord(row) as { members: Record<string, unknown>[] };
  return { ...group, members: group.members.map(({ outcome, ...member }) => member) };
}

/** The answer of the run view. */
export function runRecord([scopes, messages, groups, barriers, reservations, waiters, sums, truncated]: Reply): object {
  const [scope, ...below] = pageOf.rows(scopes).map(scopeRecord);
  const [count, units] = sums as Value[];
  return {
    scope,
    scopes: below,
    messages: pageOf.rows(messages).map(messageRow),
    groups: pageOf.rows(groups).map(groupRow),
    barriers: pageOf
      .rows(barriers)
      .map(([scopeId, state, epoch, arrivals, target, releasedAt, id]) =>
        Barrier.of({ scopeId, state, epoch, arrivals, target, releasedAt, id }),
      ),
    reservations: pageOf.rows(reservations).map((row) => Reservation.read(row)),
    waiters: pageOf.rows(waiters).map((row) => Waiter.read(row)),
    consumptions: { count, units },
    truncated: truncated === 1,
  };
}
