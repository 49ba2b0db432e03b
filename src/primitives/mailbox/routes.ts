import { flag, raws, text as textField } from '../../engine/declare/field.ts';
import { many, one, record } from '../../engine/declare/record.ts';
import { param, randomTail } from '../../engine/route/args.ts';
import {
  fields,
  flag as flagField,
  id,
  integer,
  key,
  ofRun,
  oneOf,
  opaque,
  optional,
  page,
  states,
  text,
} from '../../engine/route/fields.ts';
import { Cursors, pageReply, positions, statesText } from '../../engine/route/page.ts';
import { byName, readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { claimRoutes } from './claim-routes.ts';
import { errorsRoute } from './error-counts.ts';
import { damagedDetail } from './errors.ts';
import {
  attemptSeconds,
  leftToMailbox,
  maxAttempts,
  maxRetryDelaySeconds,
  perKey,
  progressEvents,
  retryDelaySeconds,
  whenAndHowOften,
} from './fields.ts';
import { figuresRoute } from './figures.ts';
import { manageRoutes } from './manage-routes.ts';
import { messageRoutes } from './message-routes.ts';
import { optionArgs } from './options.ts';
import { whatItIsAfter } from './prerequisites.ts';
import { leaveRoute, receiversRoute } from './receivers.ts';
import { defaultAttempts, Mailbox, Message, messageStates } from './records.ts';
import { permissionsToSend, whatItRequires } from './requirements.ts';

const longestPause = (body: { retryDelaySeconds: number; maxRetryDelaySeconds?: number | undefined }): number =>
  body.maxRetryDelaySeconds ?? Math.max(3_600, body.retryDelaySeconds);

const create = route({
  method: 'POST',
  path: '/mailboxes',
  call: 'mailbox.create',
  summary:
    'Create a mailbox: a work queue (WORK) or an inbox (INBOX); with unique, answer 200 with the oldest one of its name where there is one',
  description:
    'The retry policy says how a message is tried again: before the attempt after the nth it pauses for ' +
    'min(maxRetryDelaySeconds, retryDelaySeconds × 2^(n−1)) seconds. `maxRetryDelaySeconds` is 3,600 by ' +
    'default, or `retryDelaySeconds` if that is more.',
  title: 'Create a mailbox',
  tool: 'Make a queue. unique true answers the one of this name if there is one. mode WORK: each message is work for whoever receives it first. INBOX: letters to the holder recipientId.',
  permission: 'coordination_write',
  idempotency: 'required',
  body: fields({
    name: key(200)
      .description('a name for people, by which it can be found; it need not be unique')
      .meta({ model: 'to find it by' }),
    mode: optional(oneOf('WORK', 'INBOX'))
      .description(
        'the kind of mailbox: WORK, the default, for work that any holder takes on, INBOX for messages to one recipient',
      )
      .meta({ model: 'WORK (default) or INBOX' }),
    recipientId: optional(text(1, 256))
      .description(
        'the only holder that may receive from an INBOX; by default anyone may. It has no effect on a WORK mailbox',
      )
      .meta({ model: 'the holder that may receive, of an INBOX' })
      .example('agent-7'),
    backlogLimit: optional(integer(1, 100_000), 1000),
    maxAttempts: optional(maxAttempts(), defaultAttempts),
    retryDelaySeconds: optional(retryDelaySeconds(), 0),
    maxRetryDelaySeconds: optional(maxRetryDelaySeconds()),
    perKey: optional(perKey(), null),
    attemptSeconds: optional(attemptSeconds().allow(null), null),
    progressEvents: optional(progressEvents(), false),
    unique: optional(flagField(), false)
      .description(
        'whether the name is unique: if mailboxes of this name exist, none is created, and the oldest of them is answered, with 200; its mode and recipientId must be those that are given',
      )
      .meta({ model: 'true: one of this name will do' }),
  }),
  notInTool: [...leftToMailbox, 'progressEvents', 'backlogLimit'],
  success: { 200: Mailbox.schema, 201: Mailbox.schema },
  refuses: ['OPERATIONS_EXHAUSTED', 'MAILBOX_CONFLICT'],
  script: 'mailbox/create',
  args: ({ body }) => ({
    ...body,
    mode: body.mode ?? '',
    recipientId: body.recipientId ?? '',
    maxRetryDelaySeconds: longestPause(body),
    perKey: body.perKey ?? '',
    attemptSeconds: body.attemptSeconds ?? '',
    progressEvents: body.progressEvents ? '1' : '',
    unique: body.unique ? '1' : '',
    tail: randomTail(),
  }),
  reply: { ...raws('id', 'createdAt'), mailbox: one(Mailbox).orNull() },
  makes: Mailbox,
  given: ({ body: { unique: _unique, progressEvents, ...asked } }) => ({
    ...asked,
    progressEvents: progressEvents ? 1 : undefined,
    mode: asked.mode ?? 'WORK',
    maxRetryDelaySeconds: longestPause(asked),
    ...{ ready: 0, claimed: 0, failed: 0, acked: 0 },
  }),
});

const list = readList({
  path: '/mailboxes',
  call: 'mailbox.list',
  rate: 'operator',
  summary: 'List mailboxes, newest first; by name',
  description:
    'Deleted mailboxes are not listed. `counts.delayed` is the number of messages that wait for their ' + '`readyAt`.',
  title: 'Find mailboxes',
  tool: 'Find where work comes from and where to send it: each mailbox is a queue, with how many messages are ready, delayed, claimed and failed in it.',
  whenEmpty:
    'None. If work is to be shared here, make a mailbox with mailbox_create (unique true), then message_send; if you were given a name, ask who gave it.',
  script: 'mailbox/list',
  plural: 'mailboxes',
  record: Mailbox,
  filters: byName(),
});

const { id: messageId, mailboxId, state } = Message.fields;
const SentMessage = record('SentMessage', { id: messageId, mailboxId, state, replay: flag().named('known') });

const send = route({
  method: 'POST',
  path: '/mailboxes/:mailboxId/messages',
  call: 'message.send',
  summary: 'Send a message; a workKey known in the mailbox answers 200 with the first message',
  description:
    'With `delaySeconds` the message is DELAYED until its `readyAt`, and READY from then on, ordered as ' +
    'ready since that moment; a delay that reaches the deadline is refused (400). A DELAYED message ' +
    'counts wherever a READY one does, and as an armed timer. READY messages of a higher `priority` are received first. If ' +
    'the mailbox has `perKey`, at most so many messages of one `key` are handed out at once, in order and retries ' +
    'included; the others are BLOCKED. With `after` it is BLOCKED until each message named there ' +
    'is ACKED and each group SATISFIED; a delay runs meanwhile.',
  title: 'Send work',
  tool: 'Put a message into a mailbox, for another agent or for later. Use a workKey that names the work (a file, a ticket): a known one of the mailbox, in whatever run, answers the first message (replay true, with its scopeId) and sends nothing while that one is kept. Keep the id for message_view.',
  permission: 'coordination_write',
  permissionsFor: permissionsToSend,
  idempotency: 'required',
  body: fields({
    scopeId: ofRun(),
    payload: opaque().description('the value that the receiver gets'),
    workKey: optional(key())
      .description(
        "the sender's name for this work: a known one of the mailbox answers the first message, with replay true",
      )
      .meta({ model: 'a name for this work' }),
    ...whenAndHowOften,
    ...whatItIsAfter,
    ...whatItRequires,
  }),
  opaque: ['payload'],
  notInTool: leftToMailbox,
  example: { state: 'DELAYED' },
  toolAnswer: SentMessage.with('SentByModel', { scopeId: Message.fields.scopeId }).schema,
  success: { 201: SentMessage.schema, 200: SentMessage.schema },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'SCOPE_CANCELLED',
    'OPERATIONS_EXHAUSTED',
    'PAYLOAD_TOO_LARGE',
    'BACKLOG_FULL',
    'TIMERS_FULL',
    'ACTIVE_TASKS_LIMITED',
    'RETAINED_BYTES_EXCEEDED',
    'ACTIVE_RUNS_LIMITED',
    'MESSAGES_DAMAGED',
    'MESSAGE_NOT_FOUND',
    'GROUP_NOT_FOUND',
    'SCOPE_NOT_FOUND',
    'PREREQUISITE_FAILED',
    'DEPENDENTS_FULL',
    'POOL_NOT_FOUND',
    'ALLOWANCE_NOT_FOUND',
    'UNITS_EXCEED_LIMIT',
  ],
  script: 'mailbox/send',
  args: ({ body, trace }) => ({
    scopeId: body.scopeId,
    payload: body.payload,
    workKey: body.workKey ?? '',
    ...optionArgs(body, trace),
    tail: randomTail(),
  }),
  reply: { id: messageId, state, known: flag(), scopeId: Message.fields.scopeId.orNull() },
  makes: SentMessage,
  given: (input) => ({ mailboxId: param(input, 'mailboxId') }),
  answer: ({ id, state, known, scopeId }, input, replayed) => {
    const replay = replayed || known;
    const sent = { id, mailboxId: param(input, 'mailboxId'), state, replay };
    // A model does not remember the run that it sent to, and the first message of a workKey may be in another one.
    const body = input.isModel ? { ...sent, scopeId: scopeId ?? input.body.scopeId } : sent;
    return { status: replay ? 200 : 201, body };
  },
});

const messageCursors = new Cursors('messages', positions.id);

const messages = read({
  path: '/mailboxes/:mailboxId/messages',
  call: 'message.list',
  summary: 'List messages, oldest first; by state, scope subtree, workKey or key',
  description:
    'A page may be short, or even empty: it ends at 4 MiB, or at 1,000 records looked at. Continue with `nextCursor` ' +
    'until it is null. A page that begins with messages that the store has damaged is MESSAGES_DAMAGED, and ' +
    'has the cursor that continues after them.',
  query: fields({
    ...page(),
    state: states(...messageStates),
    scopeId: id().optional().description('only those of this scope and of the scopes below it'),
    workKey: key().optional().description('only the one that was sent with this workKey'),
    key: key().optional().description('only those with this key'),
  }),
  success: { 200: pageReply('messages', Message.schema) },
  refuses: ['MAILBOX_NOT_FOUND', 'INVALID_CURSOR', 'MESSAGES_DAMAGED'],
  script: 'mailbox/messages',
  args: (input) => ({
    states: statesText(input.query.state),
    scopeId: input.query.scopeId ?? '',
    workKey: input.query.workKey ?? '',
    key: input.query.key ?? '',
    limit: input.query.limit,
    cursor: messageCursors.read(input),
  }),
  reply: { nextCursor: textField().orNull(), messages: many(Message) },
  detail: (refusal, input) => damagedDetail(refusal, (behind) => messageCursors.next(input, behind)),
  answer: ({ messages, nextCursor }, input) => ({
    status: 200,
    body: { messages, nextCursor: messageCursors.next(input, nextCursor) },
  }),
});

export const mailboxRoutes: readonly Route[] = [
  create,
  list,
  ...manageRoutes,
  send,
  messages,
  ...messageRoutes,
  ...claimRoutes,
  leaveRoute,
  errorsRoute,
  figuresRoute,
  receiversRoute,
];
