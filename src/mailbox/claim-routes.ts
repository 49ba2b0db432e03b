import Joi from 'joi';
import { flag as flagField, id as idField, oneOf, time } from '../declare/field.ts';
import { one, record } from '../declare/record.ts';
import { TaskGroup } from '../group/records.ts';
import { fields, flag, id, integer, key, opaque, optional, says, text } from '../http/fields.ts';
import type { Hold } from '../http/hold.ts';
import { randomTail, randomToken } from '../http/random.ts';
import { param, type Route, route } from '../http/route.ts';
import { Refusal } from '../redis/scripts.ts';
import { Claim, Message } from './records.ts';

const { id: messageId, attempts, taskId, groupId } = Message.fields;
const resultMessageId = idField().orNull();
const groupState = TaskGroup.fields.state.orNull();

/** How often a held receive retries while the organization has as many claims as its plan allows. */
const limitedRetryMs = 500;

/** A held receive retries CONCURRENCY_LIMITED by itself. */
const look: Hold['look'] = async (run, isLast, again) => {
  try {
    const ran = await run({ looksAgain: isLast ? '' : '1' });
    return isLast || ran.reply !== undefined ? ran : undefined;
  } catch (error) {
    if (isLast || !(error instanceof Refusal && error.code === 'CONCURRENCY_LIMITED')) throw error;
    // Nothing wakes it when a claim elsewhere in the organization ends.
    again(limitedRetryMs);
    return undefined;
  }
};

const recv = route({
  method: 'POST',
  path: '/mailboxes/:mailboxId/recv',
  call: 'message.recv',
  summary: "Claim the oldest ready message of a scope's subtree; 204 when none is ready",
  permission: 'coordination_write',
  idempotency: 'never',
  body: fields({
    scopeId: id(),
    holder: text(1, 256),
    holderSession: text(1, 256),
    leaseSeconds: optional(integer(5, 600)),
    waitSeconds: optional(integer(0, 30), 0),
  }),
  success: { 200: Claim.schema, 204: null },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'RECIPIENT_MISMATCH',
    'LEASE_LIMIT_EXCEEDED',
    'OPERATIONS_EXHAUSTED',
    'CONCURRENCY_LIMITED',
  ],
  script: 'mailbox/recv',
  args: ({ body }) => ({
    scopeId: body.scopeId,
    holder: body.holder,
    holderSession: body.holderSession,
    leaseSeconds: body.leaseSeconds ?? '',
    token: randomToken(),
    looksAgain: '',
  }),
  reply: { claim: one(Claim) },
  answer: ({ claim }, input) => {
    const { holder, holderSession } = input.body;
    return { status: 200, body: { ...claim, mailboxId: param(input, 'mailboxId'), holder, holderSession } };
  },
  hold: (input) => {
    const { waitSeconds, scopeId } = input.body;
    return waitSeconds > 0 ? { waitSeconds, topic: `${param(input, 'mailboxId')}/${scopeId}`, look } : undefined;
  },
});

const renewed = { leaseExpiresAt: time(), groupState };

const renew = route({
  method: 'POST',
  path: '/messages/:messageId/renew',
  call: 'message.renew',
  summary: 'Extend the lease of a claim, counted from now; may shorten it',
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({ token: text(1, 256), leaseSeconds: optional(integer(5, 600)) }),
  success: { 200: record('RenewedClaim', { id: messageId, state: oneOf('CLAIMED'), ...renewed }).schema },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST', 'LEASE_LIMIT_EXCEEDED'],
  script: 'mailbox/renew',
  args: ({ body }) => ({ token: body.token, leaseSeconds: body.leaseSeconds ?? '' }),
  reply: renewed,
  answer: (reply, input) => ({ status: 200, body: { id: param(input, 'messageId'), state: 'CLAIMED', ...reply } }),
});

interface Result {
  readonly payload: string;
  readonly mailboxId?: string;
  readonly scopeId?: string;
  readonly workKey?: string;
}

const CompletedMessage = record('CompletedMessage', {
  id: messageId,
  state: oneOf('ACKED'),
  taskId,
  taskState: oneOf('SUCCEEDED').orNull(),
  resultMessageId,
  groupId,
  groupState,
  replay: flagField(),
});

const complete = route({
  method: 'POST',
  path: '/messages/:messageId/complete',
  call: 'message.complete',
  summary: 'Acknowledge a message, with an optional result, recorded and published in the same step',
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({
    token: text(1, 256),
    result: optional(
      Joi.object<Result>({
        payload: opaque(),
        mailboxId: optional(id()),
        scopeId: optional(id()),
        workKey: optional(key()),
      })
        .and('mailboxId', 'scopeId')
        .with('workKey', 'mailboxId')
        .description('mailboxId and scopeId come together or not at all; workKey only with them')
        .error(
          says({
            'object.and': 'result.mailboxId and result.scopeId must be sent together, or neither',
            'object.with': 'result.workKey may only be sent with result.mailboxId and result.scopeId',
          }),
        ),
    ),
  }),
  opaque: ['result', 'payload'],
  success: { 200: CompletedMessage.schema },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST', 'MAILBOX_NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
  script: 'mailbox/complete',
  args: ({ body }) => ({
    token: body.token,
    result: body.result?.payload ?? '',
    resultMailboxId: body.result?.mailboxId ?? '',
    resultScopeId: body.result?.scopeId ?? '',
    resultWorkKey: body.result?.workKey ?? '',
    tail: randomTail(),
  }),
  reply: { taskId, resultMessageId, groupId, groupState, known: flagField() },
  answer: ({ taskId, resultMessageId, groupId, groupState, known }, input, replayed) => ({
    status: 200,
    body: {
      id: param(input, 'messageId'),
      state: 'ACKED',
      taskId,
      taskState: taskId === null ? null : 'SUCCEEDED',
      resultMessageId,
      groupId,
      groupState,
      replay: replayed || known,
    },
  }),
});

const given = { state: oneOf('READY', 'FAILED', 'REJECTED', 'CANCELLED'), attempts };

const nack = route({
  method: 'POST',
  path: '/messages/:messageId/nack',
  call: 'message.nack',
  summary: 'Give a message back for another attempt (retry true), or refuse it for good',
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({ token: text(1, 256), retry: flag() }),
  success: { 200: record('NackedMessage', { id: messageId, ...given }).schema },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST'],
  script: 'mailbox/nack',
  args: ({ body }) => ({ token: body.token, retry: body.retry ? '1' : '0' }),
  reply: given,
  answer: (reply, input) => ({ status: 200, body: { id: param(input, 'messageId'), ...reply } }),
});

/** The calls of a worker: claim a message, and renew or end the claim. */
export const claimRoutes: readonly Route[] = [recv, renew, complete, nack];
