import { type Answered, iso, number, opaque, text } from '../../engine/declare/field.ts';
import { exactly, many, one } from '../../engine/declare/record.ts';
import { fields, key, optional } from '../../engine/route/fields.ts';
import { readList } from '../../engine/route/read-list.ts';
import { type Route, read, route } from '../../engine/route/route.ts';
import { delaySeconds } from './fields.ts';
import { Attempt, ChangedMessage, Message, MessageSummary } from './records.ts';

const reply = { message: one(Message) };

/** The answer stored for the Idempotency-Key leaves out the payload, which never changes. */
const changed = {
  reply: { message: one(ChangedMessage), payload: opaque() },
  answer: ({ message, payload }: { message: Answered<typeof ChangedMessage.fields>; payload: unknown }) => ({
    status: 200,
    body: { ...message, payload },
  }),
};

const view = read({
  path: '/messages/:messageId',
  call: 'message.view',
  summary: 'A message with its payload and its result; with waitSeconds, once it has ended',
  description:
    'With `waitSeconds` it answers once the message is ACKED, FAILED, REJECTED, EXPIRED or CANCELLED, or ' +
    'when the time is up.',
  title: 'See a message, wait for its end',
  tool: 'See what has become of a message. With waitSeconds it answers when it has ended (ACKED: done, with `result`; REJECTED, FAILED, EXPIRED, CANCELLED: not done, see `reason` and `lastError`) or the time is over: look at `state`.',
  toolAnswer: true,
  success: { 200: Message.schema },
  refuses: ['MESSAGE_NOT_FOUND', 'MESSAGES_DAMAGED'],
  script: 'mailbox/viewMessage',
  asRecord: {},
  reply,
  wait: { on: 'messageId', isOver: ({ message }) => message.finishedAt !== null },
});

const find = readList({
  path: '/messages',
  call: 'message.find',
  summary: 'Find messages of all mailboxes by workKey or by key, without their payloads',
  description:
    'Either `workKey` or `key` must be given. A page takes at most 10 messages of a mailbox, the newest; the rest of a key is in ' +
    'the list of that mailbox. It may have some more than `limit`, and may be empty though there are more: go on with ' +
    '`nextCursor` until it is null. Messages that the store has damaged are left out.',
  script: 'mailbox/find',
  plural: 'messages',
  record: MessageSummary,
  filters: {
    workKey: optional(key()).description('only those that were sent with this workKey; give either this or key'),
    key: optional(key()).description('only those with this key; give either this or workKey'),
  },
});

/**
 * An attempt as scripts store it: its number, holder, start, end, outcome, error and progress. The last attempt of a
 * message is built from its record.
 */
type KeptAttempt = readonly [attempt: number, string, number, number | null, string | null, unknown, unknown];

const attempts = read({
  path: '/messages/:messageId/attempts',
  call: 'message.attempts',
  summary: 'The attempts of a message one by one: who had it, from when to when, and how each ended',
  description:
    'Oldest first, with the present one last. The last 10 that did not succeed are kept, beyond a requeue. A message that was ' +
    'given back before this was counted has fewer.',
  success: { 200: exactly({ attempts: many(Attempt, 11).means('its attempts, oldest first').schema }) },
  refuses: ['MESSAGE_NOT_FOUND', 'MESSAGES_DAMAGED'],
  script: 'mailbox/attempts',
  reply: {
    past: text().orNull(),
    state: text(),
    attempts: number(),
    holder: text().orNull(),
    claimedAt: number().orNull(),
    finishedAt: number().orNull(),
    progress: text().orNull(),
  },
  answer: ({ past, state, attempts, holder, claimedAt, finishedAt, progress }) => {
    const kept = (past ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as KeptAttempt);
    const outcome = state === 'CLAIMED' ? null : state;
    const last: KeptAttempt = [attempts, holder ?? '', claimedAt ?? 0, finishedAt, outcome, null, progress];
    // A message that was given back in a decided group is CANCELLED after that attempt has been kept.
    const isKept = last.slice(0, 3).every((value, index) => value === kept.at(-1)?.[index]);
    const all = holder === null || !ownAttempt.includes(state) || isKept ? kept : [...kept, last];
    return {
      status: 200,
      body: {
        attempts: all.map(([attempt, holder, claimedAt, endedAt, outcome, error, progress]) =>
          Attempt.of({
            ...{ attempt, holder, claimedAt, endedAt, outcome },
            ...{ error: textOrNull(error) ?? errorOf(outcome, endedAt, holder), progress: textOrNull(progress) },
          }),
        ),
      },
    };
  },
});

/**
 * In these states only the message's own record describes its last attempt. In all others it has none, or one that is
 * already stored.
 */
const ownAttempt = ['CLAIMED', 'ACKED', 'EXPIRED', 'CANCELLED'];

/** The error of an attempt that reported none. lua/mailbox/_expire.lua and release.lua word `lastError` alike. */
function errorOf(outcome: string | null, endedAt: number | null, holder: string): string | null {
  if (outcome === 'LEASE_EXPIRED') return `the lease ended at ${iso(endedAt)} (holder ${holder})`;
  return outcome === 'RELEASED' ? `the claim was released by an operator at ${iso(endedAt)} (holder ${holder})` : null;
}

/** Scripts store false for an absent text. */
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const cancel = route({
  method: 'POST',
  path: '/messages/:messageId/cancel',
  call: 'message.cancel',
  summary: 'Cancel a message that has not ended; a claim on it is lost',
  description:
    'The message becomes CANCELLED with the reason CANCELLED_BY_CALLER, or RUN_CANCELLED if its run is cancelled. A message that ' +
    'is already CANCELLED is answered as it is; for any other end the answer is MESSAGE_FINISHED.',
  title: 'Cancel a message',
  tool: 'Take work back that you sent and nobody needs any more: nobody receives it, and whoever works on it loses the claim. To stop a whole run: scope_cancel.',
  isDestructive: true,
  isRepeatable: true,
  permission: 'coordination_write',
  idempotency: 'optional',
  rate: 'recovery',
  example: { state: 'CANCELLED', reason: 'CANCELLED_BY_CALLER', finishedAt: '2026-01-31T12:00:00.000Z' },
  success: { 200: Message.schema },
  refuses: ['MESSAGE_NOT_FOUND', 'MESSAGE_FINISHED', 'MESSAGES_DAMAGED'],
  script: 'mailbox/cancel',
  ...changed,
});

const requeue = route({
  method: 'POST',
  path: '/messages/:messageId/requeue',
  call: 'message.requeue',
  summary: 'Requeue a failed, rejected, expired or cancelled message, with all its attempts',
  description:
    'A FAILED, REJECTED, EXPIRED or CANCELLED message is READY again, DELAYED with `delaySeconds`, or BLOCKED while a message or group that it is after has not ended, or while its key has no place. It ' +
    'keeps its id, workKey, `lastError` and `progress`; its attempts are counted anew, and a deadline ' +
    'that has passed is cleared. Members of decided groups, those with a verdict and messages of ' +
    'cancelled runs stay as they are. Limits and plan are checked as for a send.',
  permission: 'coordination_write',
  idempotency: 'optional',
  body: fields({ delaySeconds: optional(delaySeconds(), 0).example(60) }),
  example: { state: 'DELAYED', attempts: 0, readyAt: '2026-01-31T12:01:00.000Z' },
  success: { 200: Message.schema },
  refuses: [
    'MESSAGE_NOT_FOUND',
    'MESSAGE_NOT_REQUEUABLE',
    'SCOPE_CANCELLED',
    'GROUP_DECIDED',
    'VERDICT_CONFLICT',
    'PREREQUISITE_FAILED',
    'DEPENDENTS_FULL',
    'POOL_NOT_FOUND',
    'MAILBOX_NOT_FOUND',
    'OPERATIONS_EXHAUSTED',
    'BACKLOG_FULL',
    'TIMERS_FULL',
    'ACTIVE_TASKS_LIMITED',
    'MESSAGES_DAMAGED',
  ],
  script: 'mailbox/requeue',
  args: ({ body }) => ({ delaySeconds: body.delaySeconds }),
  ...changed,
});

const release = route({
  method: 'POST',
  path: '/messages/:messageId/release',
  call: 'message.release',
  summary: 'Take a claim away from its holder, whoever that is; the message goes back for another attempt',
  description:
    'For a worker that is stuck and keeps its claim. The claim ends as by a nack with `retry` true: the message is READY ' +
    'again, or DELAYED until `readyAt`, and FAILED after its last attempt; a member of a decided group is CANCELLED. ' +
    '`lastError` says that an operator released it, and calls with the old token are answered CLAIM_LOST. If the message ' +
    'is not CLAIMED, the answer is MESSAGE_NOT_CLAIMED.',
  permission: 'resource_config',
  idempotency: 'optional',
  rate: 'operator',
  example: { state: 'DELAYED', attempts: 1, readyAt: '2026-01-31T12:01:00.000Z' },
  success: { 200: Message.schema },
  refuses: ['MESSAGE_NOT_FOUND', 'MESSAGE_NOT_CLAIMED', 'MESSAGES_DAMAGED'],
  script: 'mailbox/release',
  ...changed,
});

/** The calls on messages. */
export const messageRoutes: readonly Route[] = [view, find, attempts, cancel, release, requeue];
