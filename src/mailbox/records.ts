import { id, number, oneOf, opaque, state, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { nested, record } from '../declare/record.ts';

export const Mailbox = record('Mailbox', {
  id: id(),
  name: text(),
  mode: oneOf('WORK', 'INBOX'),
  recipientId: text().orNull(),
  backlogLimit: number(),
  counts: nested({ ready: number(), claimed: number(), failed: number() }),
  oldestReadyAt: time().orNull().workedOut(),
  createdAt: time(),
});

export const messageStates = ['READY', 'CLAIMED', 'ACKED', 'REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;
export const taskStates = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;

/** Why a task ended without success. */
export const reason = oneOf(
  'REJECTED_BY_WORKER',
  'ATTEMPTS_EXHAUSTED',
  'DEADLINE_EXCEEDED',
  'GROUP_DECIDED',
  'RUN_CANCELLED',
).orNull();

/** When retention removes a message, a tombstone of its task stays, in which `tombstoneOf` is its mailbox. */
export const Message = record('Message', {
  id: id(),
  mailboxId: id(),
  scopeId: id(),
  /** Stored only if it is not the message's own id; '' if there is no task. */
  taskId: id().orNull().or('=id'),
  groupId: id().orNull(),
  taskKey: text().orNull(),
  state: state('messages', ...messageStates),
  reason,
  attempts: number().or(0),
  maxAttempts: number().of(() => 5),
  workKey: text().orNull(),
  payload: opaque(),
  deadline: time().orNull(),
  holder: text().orNull(),
  holderSession: text().orNull(),
  claimedAt: time().orNull(),
  leaseExpiresAt: time().orNull(),
  result: opaque().orNull(),
  createdAt: time().of((get) => momentOfId(get('id'))),
  finishedAt: time().orNull(),
  token: text().orNull().secret(),
  /** Precedes its id in the queue once it has been returned to it. */
  place: text().orNull().internal(),
  resultMessageId: id().orNull().internal(),
  groupState: text().orNull().internal(),
  tombstoneOf: id().orNull().internal(),
});

const { mailboxId, scopeId, taskId, groupId, holder, holderSession, result, finishedAt } = Message.fields;

export const MessageSummary = Message.without('MessageSummary', 'payload', 'result');

/** What recv answers. Values that the request has, or that are the same for all claims, are not sent by the script. */
const absent = () => null;
export const Claim = Message.with('Claim', {
  mailboxId: mailboxId.of(() => ''),
  state: Message.fields.state.of(() => 'CLAIMED'),
  reason: reason.of(absent),
  holder: holder.of(absent),
  holderSession: holderSession.of(absent),
  result: result.of(absent),
  finishedAt: finishedAt.of(absent),
  token: text(),
  attempt: number().named('attempts'),
  leaseSeconds: number(),
});

/** A live claim, as /ops/waits shows it. */
export const HeldClaim = record('HeldClaim', {
  messageId: id().named('id'),
  mailboxId,
  taskId,
  scopeId,
  holder: text(),
  holderSession: text(),
  attempt: number(1).named('attempts'),
  claimedAt: time(),
  leaseExpiresAt: time(),
});

/** A READY task, as /ops/waits shows it. */
export const WaitingTask = record('WaitingTask', { taskId: id(), groupId, mailboxId, scopeId, waitingSince: time() });
