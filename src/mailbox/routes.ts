import { fields, id, integer, key, moment, oneOf, opaque, optional, page, states, text } from '../http/fields.ts';
import { read, readList, route } from '../http/legacy.ts';
import { Cursors, pageOf, positions } from '../http/page.ts';
import { randomTail } from '../http/random.ts';
import { pageReply } from '../http/replies.ts';
import { param, type Route } from '../http/route.ts';
import { claimRoutes } from './claim-routes.ts';
import { mailboxRecord, messageRecord } from './records.ts';
import { mailboxReply, messageReply, messageStates } from './schemas.ts';

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
  answer: ([mailboxId, createdAt], { body: { name, mode, recipientId = '', backlogLimit } }) => ({
    status: 201,
    body: mailboxRecord([name, mode, recipientId, backlogLimit, 0, 0, 0, createdAt, null, mailboxId]),
  }),
});

const list = readList({
  path: '/mailboxes',
  call: 'mailbox.list',
  summary: 'List mailboxes, newest first',
  script: 'mailbox/list',
  plural: 'mailboxes',
  reply: mailboxReply,
  record: mailboxRecord,
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
  args: ({ body }) => ({
    scopeId: body.scopeId,
    payload: body.payload,
    workKey: body.workKey ?? '',
    deadline: body.deadline ?? '',
    tail: randomTail(),
  }),
  answer: ([messageId, state, known], input, replayed) => {
    const replay = replayed || known === 1;
    return { status: replay ? 200 : 201, body: { id: messageId, mailboxId: param(input, 'mailboxId'), state, replay } };
  },
});

const messageCursors = new Cursors('messages', positions.number);

const messages = read<{ limit: number; cursor?: string; state?: string; scopeId?: string; workKey?: string }>({
  path: '/mailboxes/:mailboxId/messages',
  call: 'message.list',
  summary: 'List messages, oldest first; by state, scope subtree or workKey',
  query: fields({
    ...page(),
    state: states(...messageStates),
    scopeId: id().optional(),
    workKey: key().optional(),
  }),
  success: { 200: pageReply('messages', messageReply.record) },
  refuses: ['MAILBOX_NOT_FOUND', 'INVALID_CURSOR'],
  script: 'mailbox/messages',
  args: (input) => ({
    states: pageOf.states(input.query.state),
    scopeId: input.query.scopeId ?? '',
    workKey: input.query.workKey ?? '',
    limit: input.query.limit,
    cursor: messageCursors.read(input),
  }),
  answer: ([next, records], input) => ({
    status: 200,
    body: {
      messages: pageOf.rows(records).map((values) => messageRecord(param(input, 'mailboxId'), values)),
      nextCursor: messageCursors.next(input, next),
    },
  }),
});

export const mailboxRoutes: readonly Route[] = [create, list, send, messages, ...claimRoutes];
