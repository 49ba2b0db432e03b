import Joi from 'joi';
import {
  exampleId,
  flag as flagField,
  id as idField,
  momentOfId,
  oneOf,
  raws,
  time,
} from '../../engine/declare/field.ts';
import { Raw } from '../../engine/declare/raw.ts';
import { exactly, many, one, record } from '../../engine/declare/record.ts';
import { param, randomTail, randomToken } from '../../engine/route/args.ts';
import { invalid } from '../../engine/route/errors.ts';
import {
  actor,
  fields,
  flag,
  id,
  idOr,
  integer,
  key,
  leaseSeconds,
  leaseText,
  lines,
  oneOf as oneOfWords,
  opaque,
  optional,
  says,
  text,
} from '../../engine/route/fields.ts';
import { maxReceivedBytes, maxRecordBytes, type Route, route } from '../../engine/route/route.ts';
import { noTrace } from '../../engine/route/trace.ts';
import { maxVersion, noteKey } from '../note/key.ts';
import { awaitedTexts, listOfAwaited } from './prerequisites.ts';
import { receiveTopic } from './receivers.ts';
import { Claim, groupStates, Message, ReceivedClaim, SuspendedMessage } from './records.ts';

const { id: messageId, attempts, readyAt, taskId, groupId } = Message.fields;
const resultMessageId = idField()
  .orNull()
  .means('the message that the result was sent as, or null if it was not sent')
  .example(exampleId('resultMessageId'));
const groupState = oneOf(...groupStates)
  .orNull()
  .means('the state of its group, or null if it belongs to none');
const progress = opaque()
  .optional()
  .description('the progress of the work, for the next attempt; at most 4,096 bytes')
  .meta({ model: 'how far you are, for the next attempt' })
  .example({ page: 3 });

const token = text(1, 256)
  .description('the token of the claim, from the answer to recv')
  .meta({ model: 'from message_recv' })
  .example('q1Yw3T0dB8mLr5vXz7Nc2A');

/** The limit of a message's payload, progress and record together. A question is counted as well, but few messages have one. */
const maxMessageBytes = 65_536 + 4_096 + maxRecordBytes;
const bytesOf = (value: unknown): number => (value instanceof Raw ? Buffer.byteLength(value.text) : 0);

/** Until an empty receive ends, it is neither answered nor counted. */
const whileHeld = { isHeld: '1' };
/**
 * How often a held receive tries again while the organization is at its plan's limit of claims, as no wake-up announces that
 * a claim elsewhere in the organization has ended.
 */
const limitedRetryMs = 500;

const Claims = exactly({ messages: Joi.array().items(Claim.schema).min(1).max(100) }).meta({ component: 'Claims' });

const recv = route({
  method: 'POST',
  path: '/mailboxes/:mailboxId/recv',
  call: 'message.recv',
  summary: "Claim the oldest ready message of a scope's subtree; 204 when none is ready",
  description:
    'First in, first out within a run. With `scopeId` `*` runs take turns: each run that has ready ' +
    'messages gives one before any gives a second. With `max` the answer is `{"messages":[…]}`, at least ' +
    "one and at most 4 MiB, each with a token of its own; the plan's claims and operations may cut it " +
    'short. `progress` and `lastError` of a message are what earlier attempts left.',
  title: 'Receive work',
  tool: 'Take the next message from a mailbox to work on it. It is yours alone until leaseExpiresAt; keep `id` and `token` for message_renew, message_complete and message_nack. null: none yet. `lastError` and `progress` tell what an earlier attempt left, `question` what was answered.',
  permission: 'coordination_write',
  idempotency: 'never',
  body: fields({
    scopeId: idOr('*')
      .description('the run whose messages to receive, with all below it; `*`: every run in turn')
      .example('*'),
    holder: actor(),
    holderSession: text(1, 256)
      .description('the session of the holder: any text that is new with each start, kept with the claim')
      .meta({ model: 'your session: any text, new with each start' })
      .example('worker-7/3'),
    leaseSeconds: leaseSeconds(
      "the length of the lease unless it is renewed; by default 30, or the space's maxLeaseSeconds if that is less",
    ),
    waitSeconds: optional(integer(0, 30), 0)
      .description('how long the request may be held until a message is ready; prefer 20 to 30 to asking again')
      .meta({ model: 'how long to wait for one; prefer 20 to 30 to asking again' })
      .example(20),
    max: optional(integer(1, 100))
      .description(
        'the most messages to receive, answered as the list `messages`; by default one message is received, and answered by itself',
      )
      .meta({ model: 'so many at once, as `messages`; left out: one, by itself' })
      .example(10),
  }),
  toolAnswer: Claim.schema.keys({ messages: Claims.extract('messages') }),
  whenEmpty:
    'Nothing to take now. Call again with waitSeconds 30, or stop if you know that all work is done: run_view shows whether its scope is IDLE.',
  success: { 200: Joi.alternatives(Claim.schema, Claims), 204: null },
  refuses: [
    'MAILBOX_NOT_FOUND',
    'RECIPIENT_MISMATCH',
    'LEASE_LIMIT_EXCEEDED',
    'OPERATIONS_EXHAUSTED',
    'CONCURRENCY_LIMITED',
  ],
  script: 'mailbox/recv',
  args: ({ body, isModel }) => ({
    scopeId: body.scopeId,
    holder: body.holder ?? '',
    holderSession: body.holderSession,
    leaseSeconds: leaseText({ body, isModel }),
    max: body.max ?? 1,
    tokens: Array.from({ length: body.max ?? 1 }, randomToken).join(''),
    isHeld: '',
    bytesLimit: maxReceivedBytes,
  }),
  reply: { claims: many(ReceivedClaim) },
  receives: {
    maxBytes: ({ body }) => (body.max ?? 1) * maxMessageBytes,
    bytes: ({ claims }) =>
      claims.reduce((sum, { payload, progress, question, ...record }) => {
        const opaque = [payload, progress, question?.question, question?.answer];
        const beside = Buffer.byteLength(JSON.stringify([record, question?.options])) + 2_048;
        return sum + beside + opaque.reduce((all: number, one) => all + bytesOf(one), 0);
      }, 0),
  },
  takes: { script: 'mailbox/giveBack', items: ({ claims }) => claims.map(({ id, token }) => `${id} ${token}`) },
  answer: ({ claims }, input) => {
    const { holder: given, holderSession, max } = input.body;
    const mailboxId = param(input, 'mailboxId');
    // Completed in place, as copying a claim of so many members costs more than the rest of the answer.
    for (const claim of claims)
      Object.assign(claim, { mailboxId, holder: given ?? claim.holder, holderSession, place: undefined });
    return { status: 200, body: max === undefined ? claims[0] : { messages: claims } };
  },
  times: ({ claims }) =>
    claims.map(({ id, place, token, claimedAt }) => {
      const at = Date.parse(claimedAt ?? '');
      return { of: 'wait', token, at, seconds: (at - momentOfId(place ?? id)) / 1000 };
    }),
  hold: (input) => {
    const { waitSeconds, scopeId, holder, holderSession } = input.body;
    const topic = receiveTopic(param(input, 'mailboxId'), scopeId);
    if (waitSeconds === 0) return undefined;
    return {
      ...{ waitSeconds, topic, receiver: { holder, holderSession }, whileHeld, whenLeft: { max: 0 } },
      isOver: ({ reply }) => reply !== undefined,
      outlasts: ({ code }) => code === 'CONCURRENCY_LIMITED',
      retryMs: limitedRetryMs,
    };
  },
});

const RenewedClaim = record('RenewedClaim', {
  id: messageId,
  state: oneOf('CLAIMED'),
  leaseExpiresAt: time(),
  groupState,
});

const renew = route({
  method: 'POST',
  path: '/messages/:messageId/renew',
  call: 'message.renew',
  summary: 'Extend the lease of a claim, counted from now; may shorten it',
  description:
    '`progress` is kept with the message over its attempts: the next `recv` answers the last one that was ' +
    'given. A renewal is not an operation. It emits no event, unless it has progress and the mailbox `progressEvents`.',
  title: 'Report progress, keep the claim',
  tool: 'Keep a message that you still work on, before leaseExpiresAt, else another agent gets it. Call it about every third of the lease.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({
    token,
    leaseSeconds: leaseSeconds('the length of the lease from now on; by default as for recv'),
    progress,
  }),
  opaque: ['progress'],
  toolAnswer: true,
  success: { 200: RenewedClaim.schema },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST', 'LEASE_LIMIT_EXCEEDED', 'PAYLOAD_TOO_LARGE', 'MESSAGES_DAMAGED'],
  script: 'mailbox/renew',
  args: ({ body, isModel }) => ({
    token: body.token,
    leaseSeconds: leaseText({ body, isModel }),
    progress: body.progress ?? '',
  }),
  reply: raws('leaseExpiresAt', 'groupState'),
  makes: RenewedClaim,
  given: (input) => ({ id: param(input, 'messageId'), state: 'CLAIMED' }),
});

interface CompletionResult {
  readonly payload: string;
  readonly mailboxId?: string;
  readonly scopeId?: string;
  readonly workKey?: string;
}

const CompletedMessage = record('CompletedMessage', {
  id: messageId,
  state: oneOf('ACKED'),
  taskId,
  taskState: oneOf('SUCCEEDED')
    .orNull()
    .of({ cases: [['taskId', 'SUCCEEDED']], otherwise: '' })
    .means("the task's state, or null if it carries no task")
    .example('SUCCEEDED'),
  resultMessageId,
  groupId,
  groupState,
  replay: flagField().named('known'),
});

const complete = route({
  method: 'POST',
  path: '/messages/:messageId/complete',
  call: 'message.complete',
  summary: 'Acknowledge a message; with an optional result, recorded and published in the same step',
  description:
    'Ends the claim: the message is ACKED, and its task SUCCEEDED. A `result` with `mailboxId` and `scopeId` is ' +
    'sent there in the same step. The same token again answers as before, with `replay` true, unless it has another ' +
    '`result.payload`: the first one stands (`RESULT_CONFLICT`). After the lease was lost it is refused (`CLAIM_LOST`): ' +
    'drop the work.',
  title: 'Complete work',
  tool: 'Report that the message is done, once the work is safe. Nobody gets it again. `result` with mailboxId and scopeId is also sent on as a new message, in the same step.',
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({
    token,
    result: optional(
      Joi.object<CompletionResult>({
        payload: opaque().description('the result itself'),
        mailboxId: optional(id())
          .description('a mailbox to send the result to, too; only with scopeId')
          .meta({ model: 'where to send it, too' }),
        scopeId: optional(id())
          .description('the run of that message; only with mailboxId')
          .meta({ model: 'its run there' }),
        workKey: optional(key())
          .description('the workKey of that message: one with a known key is not sent again')
          .meta({ model: 'the workKey of that message' }),
      })
        .description(
          'the result of the work, which is kept with the message, and sent on if mailboxId is given; by default nothing',
        )
        .meta({ model: 'the outcome of the work' })
        .and('mailboxId', 'scopeId')
        .with('workKey', 'mailboxId')
        .error(
          says({
            'object.and': 'result.mailboxId and result.scopeId must be sent together, or neither',
            'object.with': 'result.workKey may only be sent with result.mailboxId and result.scopeId',
          }),
        ),
    ),
  }),
  opaque: ['result', 'payload'],
  toolAnswer: true,
  success: { 200: CompletedMessage.schema },
  refuses: [
    'MESSAGE_NOT_FOUND',
    'CLAIM_LOST',
    'RESULT_CONFLICT',
    'MAILBOX_NOT_FOUND',
    'PAYLOAD_TOO_LARGE',
    'MESSAGES_DAMAGED',
  ],
  script: 'mailbox/complete',
  args: ({ body, trace }) => ({
    token: body.token,
    result: body.result?.payload ?? '',
    resultMailboxId: body.result?.mailboxId ?? '',
    resultScopeId: body.result?.scopeId ?? '',
    resultWorkKey: body.result?.workKey ?? '',
    ...(body.result?.mailboxId === undefined ? noTrace : trace),
    tail: randomTail(),
  }),
  reply: raws('taskId', 'resultMessageId', 'groupId', 'groupState', 'known'),
  times: (_reply, { body }) => [{ of: 'run', token: body.token, outcome: 'acked' }],
  makes: CompletedMessage,
  given: (input) => ({ id: param(input, 'messageId'), state: 'ACKED' }),
});

const NackedMessage = record('NackedMessage', {
  id: messageId,
  state: oneOf('READY', 'DELAYED', 'FAILED', 'REJECTED', 'CANCELLED'),
  attempts,
  readyAt,
});

const nack = route({
  method: 'POST',
  path: '/messages/:messageId/nack',
  call: 'message.nack',
  summary: 'Give a message back for another attempt (retry true), or refuse it for good',
  description:
    'With `retry` true the message is READY again, or DELAYED until `readyAt` where its mailbox has a ' +
    'retry policy or `delaySeconds` is given; after the last attempt it is FAILED. A pause may pass the ' +
    'deadline; the message then expires. With `countsAttempt` false the message goes back as if it had not been ' +
    'tried: its attempt is taken back, so it is never FAILED by that, and its only pause is `delaySeconds`. ' +
    'A member of a decided group is CANCELLED instead.',
  title: 'Give work back',
  tool: 'Give a message back that you cannot finish: retry true for another attempt by anybody, false when none can succeed. Say why in `error`: the next attempt sees it as lastError.',
  isDestructive: true,
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({
    token,
    retry: flag()
      .description(
        'whether another attempt may succeed: if true, the message is tried again as long as attempts are left; if false, it is REJECTED',
      )
      .meta({ model: 'true: another attempt may succeed; false: REJECTED for good' })
      .example(true),
    countsAttempt: optional(flag())
      .description(
        'whether the attempt counts; false if the work was not tried. Only with retry true, and best with delaySeconds',
      )
      .meta({ model: 'false: not tried, so the attempt does not count; with retry true' }),
    delaySeconds: optional(integer(0, 86_400))
      .description("the pause before the next attempt, in place of the mailbox's own; only with retry true")
      .meta({ model: 'the pause before the next attempt' }),
    error: optional(lines(1, 2048))
      .description('the error, in words that help the next attempt; it is kept as lastError')
      .meta({ model: 'in words that help the next attempt' })
      .example('the printer is out of paper'),
  }),
  example: { state: 'DELAYED', readyAt: '2026-01-31T12:01:00.000Z' },
  toolAnswer: true,
  success: { 200: NackedMessage.schema },
  refuses: ['MESSAGE_NOT_FOUND', 'CLAIM_LOST', 'MESSAGES_DAMAGED'],
  script: 'mailbox/nack',
  args: ({ body: { token, retry, countsAttempt, delaySeconds, error } }) => {
    if (!retry && delaySeconds !== undefined) throw invalid('delaySeconds may only be sent with retry true');
    if (!retry && countsAttempt === false) throw invalid('countsAttempt may only be false with retry true');
    return {
      token,
      retry: retry ? '1' : '0',
      countsAttempt: countsAttempt === false ? '0' : '1',
      delaySeconds: delaySeconds ?? '',
      reported: error ?? '',
    };
  },
  reply: raws('state', 'attempts', 'readyAt'),
  times: ({ state }, { body }) => {
    const isBack = state === 'READY' || state === 'DELAYED';
    return [{ of: 'run', token: body.token, outcome: isBack ? 'retried' : String(state).toLowerCase() }];
  },
  makes: NackedMessage,
  given: (input) => ({ id: param(input, 'messageId') }),
});

/** A month. */
const maxSuspendSeconds = 2_592_000;

const suspend = route({
  method: 'POST',
  path: '/messages/:messageId/suspend',
  call: 'message.suspend',
  summary: 'Give up the claim until others have ended, a note has changed or some time has passed',
  description:
    'Ends the claim without counting its attempt: the message is BLOCKED, nobody holds it, and its units are for others. ' +
    'Once all that it names is over (with `any`, one thing), it is READY at the end of its queue, in the very step that ended ' +
    'the last; if all is over already, at once, so no wake-up is lost. An atomic batch may send the work and suspend until it ' +
    'is done. The next `recv` says in `suspension` how everything ended. After `timeoutSeconds` it continues in any case ' +
    '(`RETURN`) or is FAILED (`FAIL`). It keeps the place of its key, unless `yieldsKey` passes it on.',
  title: 'Wait for other work',
  tool: 'Stop working on the message until other work has ended, a note has changed, or for a time. Your claim ends with this call: save in `progress` what you have. Received again, it has `suspension`.',
  permission: 'coordination_write',
  idempotency: 'required',
  rate: 'recovery',
  body: fields({
    token,
    after: optional(
      listOfAwaited({
        message: 'end',
        group: 'be decided',
        scope: 'have nothing live in it and below',
        idle: 'be idle',
      })
        .description('the messages, groups and scopes that must end, however they do')
        .meta({ model: 'must end, however' })
        .example([{ messageId: exampleId('messageId') }]),
    ),
    note: optional(
      fields({
        scopeId: optional(id())
          .description("the scope of the note; by default the message's own")
          .meta({ model: 'its run; left out: of the message' }),
        key: noteKey.description('the key of the note'),
        sinceVersion: integer(0, maxVersion)
          .description('the version that it must have no longer; 0 if there is no such note yet')
          .meta({ model: 'until it is another; 0: none yet' }),
      }),
    )
      .description('a note that must change')
      .meta({ model: 'must change' })
      .example({ key: 'plan', sinceVersion: 3 }),
    delaySeconds: optional(integer(0, maxSuspendSeconds))
      .description('how long to sleep')
      .meta({ model: 'how long to sleep' }),
    any: optional(flag(), false)
      .description('whether one of them is enough; otherwise all of them must be over')
      .meta({ model: 'one of them is enough' }),
    timeoutSeconds: optional(integer(1, maxSuspendSeconds), maxSuspendSeconds)
      .description('how long to wait at most')
      .meta({ model: 'the longest wait' }),
    onTimeout: optional(oneOfWords('RETURN', 'FAIL'), 'RETURN')
      .description('what happens then: with RETURN the message continues, with FAIL it is FAILED')
      .meta({ model: 'then RETURN (default) goes on, FAIL ends it' }),
    yieldsKey: optional(flag(), false)
      .description(
        "whether the next message of its key goes on meanwhile; the message then joins the end of its key's queue when it continues",
      )
      .meta({ model: 'others of its key go on; it returns behind them' }),
    progress,
  }),
  opaque: ['progress'],
  notInTool: ['yieldsKey'],
  success: { 201: SuspendedMessage.schema },
  refuses: [
    'MESSAGE_NOT_FOUND',
    'CLAIM_LOST',
    'GROUP_DECIDED',
    'GROUP_NOT_FOUND',
    'SCOPE_NOT_FOUND',
    'DEPENDENTS_FULL',
    'SUSPENSIONS_FULL',
    'ACTIVE_RUNS_LIMITED',
    'PAYLOAD_TOO_LARGE',
    'MESSAGES_DAMAGED',
  ],
  refusesInBody: ['MESSAGE_NOT_FOUND'],
  script: 'mailbox/suspend',
  args: ({ body: { token, after = [], note, delaySeconds, any, timeoutSeconds, onTimeout, yieldsKey, progress } }) => {
    if (after.length === 0 && note === undefined && delaySeconds === undefined)
      throw invalid('after, note or delaySeconds must say what to wait for');
    return {
      token,
      conditions: awaitedTexts(after).join(' '),
      noteScopeId: note?.scopeId ?? '',
      noteKey: note?.key ?? '',
      sinceVersion: note?.sinceVersion ?? '',
      delaySeconds: delaySeconds ?? '',
      any: any ? '1' : '',
      timeoutSeconds,
      fails: onTimeout === 'FAIL' ? '1' : '',
      yieldsKey: yieldsKey ? '1' : '',
      progress: progress ?? '',
    };
  },
  reply: { message: one(SuspendedMessage) },
  times: (_reply, { body }) => [{ of: 'run', token: body.token, outcome: 'suspended' }],
  answer: ({ message }) => ({ status: 201, body: message }),
});

/** The calls of a worker: claim a message, renew the claim, end it. */
export const claimRoutes: readonly Route[] = [recv, renew, complete, nack, suspend];
