import Joi from 'joi';
import { iso } from '../declare/moment.ts';
import type { Reply, Value } from '../declare/value.ts';
import { read } from '../http/legacy.ts';
import { pageOf } from '../http/page.ts';
import { record, replyId, time } from '../http/replies.ts';
import type { Route } from '../http/route.ts';

/** Rows of each list (contract section 4). */
const most = 200;

function waiterRow(values: readonly Value[]): object {
  const [allowanceId, scopeId, holder, units, waitingSince, expiresAt, position, blockedBy, waiterId] = values;
  return {
    waiterId,
    allowanceId,
    scopeId,
    holder,
    units: Number(units),
    position,
    waitingSince: iso(waitingSince),
    expiresAt: iso(expiresAt),
    blockedBy,
  };
}

function grantRow([allowanceId, scopeId, holder, units, windowEndsAt, waiterId]: readonly Value[]): object {
  return { waiterId, allowanceId, scopeId, holder, units: Number(units), windowEndsAt: iso(windowEndsAt) };
}

function claimRow(values: readonly Value[]): object {
  const [mailboxId, taskId, scopeId, holder, holderSession, attempt, claimedAt, leaseExpiresAt, messageId] = values;
  return {
    messageId,
    mailboxId,
    taskId,
    scopeId,
    holder,
    holderSession,
    attempt: Number(attempt),
    claimedAt: iso(claimedAt),
    leaseExpiresAt: iso(leaseExpiresAt),
  };
}

function taskRow([taskId, groupId, mailboxId, scopeId, waitingSince]: readonly Value[]): object {
  return { taskId, groupId, mailboxId, scopeId, waitingSince: iso(waitingSince) };
}

function waitsRecord([now, waiters, grants, claims, tasks, truncated]: Reply): object {
  return {
    asOf: iso(now),
    waiters: pageOf.rows(waiters).map(waiterRow),
    heldGrants: pageOf.rows(grants).map(grantRow),
    heldClaims: pageOf.rows(claims).map(claimRow),
    waitingTasks: pageOf.rows(tasks).map(taskRow),
    truncated: truncated === 1,
  };
}

const units = () => Joi.number().integer().min(1);
const position = () => Joi.number().integer().min(1);
const rows = (fields: Record<string, Joi.Schema>) => Joi.array().items(record(fields)).max(most);
const ofAllowance = {
  waiterId: replyId(),
  allowanceId: replyId(),
  scopeId: replyId(),
  holder: Joi.string(),
  units: units(),
};

export const waitsRoute: Route = read({
  path: '/ops/waits',
  call: 'waits.get',
  summary: 'What each waiting task and waiter waits for, and who holds what',
  success: {
    200: record({
      asOf: time(),
      waiters: rows({
        ...ofAllowance,
        position: position(),
        waitingSince: time(),
        expiresAt: time(),
        blockedBy: Joi.valid('HEAD_OF_LINE', 'WINDOW', 'COOLDOWN'),
      }),
      heldGrants: rows({ ...ofAllowance, windowEndsAt: time() }),
      heldClaims: rows({
        messageId: replyId(),
        mailboxId: replyId(),
        taskId: replyId().allow(null),
        scopeId: replyId(),
        holder: Joi.string(),
        holderSession: Joi.string(),
        attempt: position(),
        claimedAt: time(),
        leaseExpiresAt: time(),
      }),
      waitingTasks: rows({
        taskId: replyId(),
        groupId: replyId().allow(null),
        mailboxId: replyId(),
        scopeId: replyId(),
        waitingSince: time(),
      }),
      truncated: Joi.boolean(),
    }),
  },
  refuses: [],
  script: 'space/waits',
  args: () => ({ most }),
  answer: (reply) => ({ status: 200, body: waitsRecord(reply) }),
});
