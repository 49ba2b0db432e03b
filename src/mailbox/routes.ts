import Joi from 'joi';
import { fields, flag, id, integer, key, moment, oneOf, opaque, optional, page, states, text } from '../http/fields.ts';
import { pageOf } from '../http/page.ts';
import { randomTail, randomToken } from '../http/random.ts';
import { pageReply } from '../http/replies.ts';
import { iso, param, type Route, route } from '../http/route.ts';
import { says } from '../http/says.ts';
import { claimedMessage, mailboxRecord, messageRecord } from './records.ts';
import { claimReply, mailboxReply, messageReply } from './schemas.ts';

interface CreateBody {
  name: string;
  mode: string;
  recipientId?: string;
  backlogLimit: number;
}

const create = route<unknown, CreateBody>({
  method: 'POST',
  path: '/mailboxes',
  call: 'mailbox.create',
  summary: 'Create a mailbox: a work queue (WORK) or an inbox (INBOX)',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    name: key(200),
    mode: optional(oneOf('WORK', 'INBOX')).default('WORK'),
    recipientId: optional(text(1, 256)),
    backlogLimit: optional(integer(1, 100_000)).default(1000),
  }),
  success: { 201: mailboxReply },
  refuses: ['OPERATIONS_EXHAUSTED'],
  script: 'mailbox/create',
  args: ({ body }) => ({ ...body, recipientId: body.recipientId ?? '', tail: randomTail() }),
  answer: ([mailboxId, createdAt], { body }) => ({
    status: 201,
    body: mailboxRecord([
      body.name,
      body.mode,
      body.recipientId ?? '',
      body.backlogLimit,
      0,
      0,
      0,
      createdAt ?? 0,
      null,
      mailboxId ?? '',
    ]),
  }),
});

const list = route<{ limit: number; cursor?: string }>({
  method: 'GET',
  path: '/mailboxes',
  call: 'mailbox.list',
  summary: 'List mailboxes, newest first',
  permission: 'coordination_read',
  idempotency: 'never',
  query: fields(page()),
  success: { 200: pageReply('mailboxes', mailboxReply) },
  refuses: ['INVALID_CURSOR'],
  script: 'mailbox/list',
  args: ({ query }) => ({ limit: query.limit, cursor: pageOf.id(query.cursor) }),
  answer: ([next, records]) => ({
    status: 200,
    body: { mailboxes: pageOf.rows(records).map(mailboxRecord), nextCursor: pageOf.next(next) },
  }),
});

interface SendBody {
  scopeId: string;
  payload: string;
  workKey?: string;
  deadline?: number;
}

const send = route<unknown, SendBody>({
  method: 'POST',
  path: '/mailboxes/:mailboxId/messages',
  call: 'message.send',
  summary: 'Send a message; a workKey known in the mailbox answers 200 with the first message',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({ scopeId: id(), payload: opaque(), workKey: optional(key()), deadline: optional(moment()) }),
  opaque: ['payload'],
  success: { 201: messageReply.sent, 200: messageReply.sent },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'BACKLOG_FULL',
    'TIMERS_FULL',
    'ACTIVE_TASKS_LIMITED',
    'ACTIVE_RUNS_LIMITED',
  ],
  script: 'mailbox/send',
  args: (input) => ({
    mailboxId: param(input, 'mailboxId'),
    scopeId: input.body.scopeId,
    payload: input.body.payload,
    workKey: input.body.workKey ?? '',
    deadline: input.body.deadline ?? '',
    tail: randomTail(),
  }),
  answer: ([messageId, state, known], input, replayed) => {
    const replay = replayed || known === 1;
    return { status: replay ? 200 : 201, body: { id: messageId, mailboxId: param(input, 'mailboxId'), state, replay } };
  },
});

const messages = route<{ limit: number; cursor?: string; state?: string; scopeId?: string; workKey?: string }>({
  method: 'GET',
  path: '/mailboxes/:mailboxId/messages',
  call: 'message.list',
  summary: 'List messages, oldest first; by state, scope subtree or workKey',
  permission: 'coordination_read',
  idempotency: 'never',
  query: fields({
    ...page(),
    state: states('READY', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'),
    scopeId: id().optional(),
    workKey: key().optional(),
  }),
  success: { 200: pageReply('messages', messageReply.record) },
  refuses: ['MAILBOX_NOT_FOUND', 'INVALID_CURSOR'],
  script: 'mailbox/messages',
  args: (input) => ({
    mailboxId: param(input, 'mailboxId'),
    states: input.query.state === undefined ? '' : `,${input.query.state},`,
    scopeId: input.query.scopeId ?? '',
    workKey: input.query.workKey ?? '',
    limit: input.query.limit,
    cursor: pageOf.number(input.query.cursor),
  }),
  answer: ([next, records], input) => ({
    status: 200,
    body: {
      messages: pageOf.rows(records).map((values) => messageRecord(param(input, 'mailboxId'), values)),
      nextCursor: pageOf.next(next),
    },
  }),
});

interface RecvBody {
  scopeId: string;
  holder: string;
  holderSession: string;
  leaseSeconds?: number;
  waitSeconds: number;
}

const recv = route<unknown, RecvBody>({
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
    waitSeconds: optional(integer(0, 30)).default(0),
  }),
  success: { 200: claimReply, 204: null },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'RECIPIENT_MISMATCH',
    'LEASE_LIMIT_EXCEEDED',
    'OPERATIONS_EXHAUSTED',
    'CONCURRENCY_LIMITED',
  ],
  script: 'mailbox/recv',
  args: (input) => ({
    mailboxId: param(input, 'mailboxId'),
    scopeId: input.body.scopeId,
    holder: input.body.holder,
    holderSession: input.body.holderSession,
    leaseSeconds: input.body.leaseSeconds ?? '',
    token: randomToken(),
    looksAgain: '',
  }),
  answer: (values, input) =>
    values.length === 0 ? { status: 204 } : { status: 200, body: claimedMessage(values, input) },
  hold: (input) => ({
    waitSeconds: input.body.waitSeconds,
    mailboxId: param(input, 'mailboxId'),
    scopeId: input.body.scopeId,
  }),
});

const renew = route<unknown, { token: string; leaseSeconds?: number }>({
  method: 'POST',
  path: '/messages/:messageId/renew',
  call: 'message.renew',
  summary: 'Extend the lease of a claim, counted from now; may shorten it',
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({ token: text(1, 256), leaseSeconds: optional(integer(5, 600)) }),
  success: { 200: messageReply.renewed },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST', 'LEASE_LIMIT_EXCEEDED'],
  script: 'mailbox/renew',
  args: (input) => ({
    messageId: param(input, 'messageId'),
    token: input.body.token,
    leaseSeconds: input.body.leaseSeconds ?? '',
  }),
  answer: ([leaseExpiresAt, groupState], input) => ({
    status: 200,
    body: { id: param(input, 'messageId'), state: 'CLAIMED', leaseExpiresAt: iso(leaseExpiresAt), groupState },
  }),
});

interface CompleteBody {
  token: string;
  result?: { payload: string; mailboxId?: string; scopeId?: string; workKey?: string };
}

const complete = route<unknown, CompleteBody>({
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
      Joi.object({
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
  success: { 200: messageReply.completed },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST', 'MAILBOX_NOT_FOUND', 'PAYLOAD_TOO_LARGE'],
  script: 'mailbox/complete',
  args: (input) => ({
    messageId: param(input, 'messageId'),
    token: input.body.token,
    result: input.body.result?.payload ?? '',
    resultMailboxId: input.body.result?.mailboxId ?? '',
    resultScopeId: input.body.result?.scopeId ?? '',
    resultWorkKey: input.body.result?.workKey ?? '',
    tail: randomTail(),
  }),
  answer: ([taskId, resultMessageId, groupId, groupState, known], input, replayed) => ({
    status: 200,
    body: {
      id: param(input, 'messageId'),
      state: 'ACKED',
      taskId,
      taskState: taskId === null ? null : 'SUCCEEDED',
      resultMessageId,
      groupId,
      groupState,
      replay: replayed || known === 1,
    },
  }),
});

const nack = route<unknown, { token: string; retry: boolean }>({
  method: 'POST',
  path: '/messages/:messageId/nack',
  call: 'message.nack',
  summary: 'Give a message back for another attempt (retry true), or refuse it for good',
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({ token: text(1, 256), retry: flag() }),
  success: { 200: messageReply.nacked },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST'],
  script: 'mailbox/nack',
  args: (input) => ({
    messageId: param(input, 'messageId'),
    token: input.body.token,
    retry: input.body.retry ? '1' : '0',
  }),
  answer: ([state, attempts], input) => ({ status: 200, body: { id: param(input, 'messageId'), state, attempts } }),
});

export const mailboxRoutes: readonly Route[] = [create, list, send, messages, recv, renew, complete, nack];
