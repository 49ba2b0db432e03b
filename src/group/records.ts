import { iso, isoOrNull } from '../declare/moment.ts';
import type { Value } from '../declare/value.ts';
import { raw } from '../http/json.ts';
import { type Input, param } from '../http/route.ts';

/** The group that the path names. */
export const groupIdOf = (input: Input) => ({ groupId: param(input, 'groupId') });

/** A group as lua/group/_view gives it: its fields, its members, its id. */
export function groupRecord([fields, members, id]: readonly Value[]): object {
  const [
    scopeId,
    parentScopeId,
    mailboxId,
    condition,
    threshold,
    state,
    outcome,
    deadline,
    createdAt,
    sealedAt,
    decidedAt,
  ] = fields as Value[];
  return {
    id,
    groupId: id,
    scopeId,
    parentScopeId,
    mailboxId,
    condition,
    threshold: threshold === null ? null : Number(threshold),
    state,
    outcome,
    deadline: isoOrNull(deadline),
    counts: counts((fields as Value[]).slice(11)),
    members: (members as Value[][]).map(memberRecord),
    createdAt: iso(createdAt),
    sealedAt: isoOrNull(sealedAt),
    decidedAt: isoOrNull(decidedAt),
  };
}

/** A counter that was never written is null. */
function counts(values: readonly Value[]): object {
  const [members, pending, running, succeeded, failed, expired, cancelled, accepted, rejected] = values.map(Number);
  return { members, pending, running, succeeded, failed, expired, cancelled, accepted, rejected };
}

function memberRecord(values: readonly Value[]): object {
  const [messageId, taskKey, verdict, deadline, state, reason, attempts, outcome, taskId] = values;
  return {
    taskId,
    taskKey,
    state,
    verdict,
    reason,
    attempts: Number(attempts),
    messageId,
    outcome: raw(outcome as string | null),
    deadline: isoOrNull(deadline),
  };
}
