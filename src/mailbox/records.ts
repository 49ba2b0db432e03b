import { iso, isoOrNull, momentOfId } from '../declare/moment.ts';
import type { Values } from '../declare/value.ts';
import { raw } from '../http/json.ts';
import { type Input, param } from '../http/route.ts';

/** A mailbox of the list script: its fields in the script's order. */
export function mailboxRecord(values: Values): object {
  const [name, mode, recipientId, backlogLimit, ready, claimed, failed, createdAt, oldestReadyAt, id] = values;
  return {
    id,
    name,
    mode,
    recipientId: recipientId === '' ? null : recipientId,
    backlogLimit: Number(backlogLimit),
    counts: { ready: Number(ready), claimed: Number(claimed), failed: Number(failed) },
    oldestReadyAt: isoOrNull(oldestReadyAt),
    createdAt: iso(createdAt),
  };
}

/** A message of the messages script: its fields in the script's order. */
export function messageRecord(mailboxId: string, values: Values): object {
  const [scopeId, taskId, groupId, taskKey, state, reason, attempts, workKey, payload, deadline] = values;
  const [holder, holderSession, claimedAt, leaseExpiresAt, result, finishedAt, id] = values.slice(10);
  return {
    id,
    mailboxId,
    scopeId,
    taskId,
    groupId,
    taskKey,
    state,
    reason,
    attempts: Number(attempts),
    maxAttempts: 5,
    workKey,
    payload: raw(payload as string | null),
    deadline: isoOrNull(deadline),
    holder,
    holderSession,
    claimedAt: isoOrNull(claimedAt),
    leaseExpiresAt: isoOrNull(leaseExpiresAt),
    result: raw(result as string | null),
    createdAt: iso(momentOfId(id)),
    finishedAt: isoOrNull(finishedAt),
  };
}

/** What recv answers: the message as it stands under the claim, and the claim's token. */
export function claimedMessage(
  values: Values,
  input: Input<unknown, { holder: string; holderSession: string }>,
): object {
  const [id, scopeId, taskId, groupId, taskKey, attempts, deadline, claimedAt, leaseExpiresAt] = values;
  const [leaseSeconds, token, workKey, payload] = values.slice(9);
  const { holder, holderSession } = input.body;
  const before = [scopeId, taskId, groupId, taskKey, 'CLAIMED', null, attempts, workKey, payload, deadline];
  const claim = [holder, holderSession, claimedAt, leaseExpiresAt, null, null, id];
  const record = messageRecord(param(input, 'mailboxId'), [...before, ...claim]);
  return { ...record, token, attempt: attempts, leaseSeconds };
}
