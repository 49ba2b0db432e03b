import Joi from 'joi';
import { iso } from '../declare/moment.ts';
import type { Reply, Value } from '../declare/value.ts';
import { read } from '../http/legacy.ts';
import { pageOf } from '../http/page.ts';
import { record, replyId, time } from '../http/replies.ts';
import type { Route } from '../http/route.ts';
import { HeldClaim, WaitingTask } from '../mailbox/records.ts';

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

function waitsRecord([now, waiters, grants, claims, tasks, truncated]: Reply): object {
  return {
    asOf: iso(now),
    waiters: pageOf.rows(waiters).map(waiterRow),
    heldGrants: pageOf.rows(grants).map(grantRow),
    heldClaims: pageOf.rows(claims).map((row) => HeldClaim.read(row)),
    waitingTasks: pageOf.rows(tasks).map((row) => WaitingTask.read(row)),
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
      heldClaims: Joi.array().items(HeldClaim.schema).max(most),
      waitingTasks: Joi.array().items(WaitingTask.schema).max(most),
      truncated: Joi.boolean(),
    }),
  },
  refuses: [],
  script: 'space/waits',
  args: () => ({ most }),
  answer: (reply) => ({ status: 200, body: waitsRecord(reply) }),
});
