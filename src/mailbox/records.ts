import { id, number, oneOf, opaque, state, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { nested, record } from '../declare/record.ts';

/** How often a message is handed out before it is FAILED, where nothing else is said. */
export const defaultAttempts = 5;

export const Mailbox = record('Mailbox', {
  id: id(),
  name: text(),
  mode: oneOf('WORK', 'INBOX'),
  recipientId: text().orNull(),
  backlogLimit: number(),
  maxAttempts: number(1).or(defaultAttempts),
  retryDelaySeconds: number().or(0),
  maxRetryDelaySeconds: number(1).or(3_600),
  counts: nested({ ready: number(), delayed: number().or(0), claimed: number(), failed: number() }),
  oldestReadyAt: time().orNull().workedOut(),
  createdAt: time(),
  /** No DELAYED message is ready earlier. */
  nextReadyAt: time().orNull().internal(),
  /** Kept once a receive has asked for messages of all runs: the turn that was given last. */
  turn: number().orNull().internal(),
  /** Of those that deliver their tasks through it. */
  undecidedGroups: number().or(0).internal(),
});

export const messageStates = [
  'READY',
  'DELAYED',
  'CLAIMED',
  'ACKED',
  'REJECTED',
  'FAILED',
  'EXPIRED',
  'CANCELLED',
] as const;
/** Final states from which a message can be requeued. */
export const requeueableStates = ['REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;
/** Of the tasks that messages are, and of their groups. */
export const taskStates = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;
export const groupStates = ['OPEN', 'SEALED', 'DECIDED'] as const;

/** Why a task ended without success. */
export const reason = oneOf(
  'REJECTED_BY_WORKER',
  'ATTEMPTS_EXHAUSTED',
  'DEADLINE_EXCEEDED',
  'GROUP_DECIDED',
  'CANCELLED_BY_CALLER',
  'RUN_CANCELLED',
).orNull();

/** When retention removes a message, a tombstone of its task stays, in which `tombstoneOf` is its mailbox. */
export const Message = record(
  'Message',
  {
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
    /** Stored where it is not 5. */
    maxAttempts: number(1).or(defaultAttempts),
    /** Of the last nack that gave one. */
    lastError: text().orNull(),
    /** What the last renewal that gave it says of the work: for the next attempt. */
    progress: opaque().orNull(),
    workKey: text().orNull(),
    payload: opaque(),
    deadline: time().orNull(),
    /** Of a DELAYED message. */
    readyAt: time().orNull(),
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
  },
  { packedBy: 'mailbox/_packed' },
);

const {
  mailboxId,
  scopeId,
  taskId,
  groupId,
  holder,
  holderSession,
  claimedAt,
  leaseExpiresAt,
  result,
  readyAt,
  finishedAt,
} = Message.fields;

export const MessageSummary = Message.without('MessageSummary', 'payload', 'result', 'progress');

/** What a cancel and a requeue reply with, beside the payload. */
export const ChangedMessage = Message.without('ChangedMessage', 'payload');

/** What recv answers. Values that the request has, or that are the same for all claims, are not sent by the script. */
const absent = () => null;
export const Claim = Message.with('Claim', {
  mailboxId: mailboxId.of(() => ''),
  state: Message.fields.state.of(() => 'CLAIMED').example('CLAIMED'),
  reason: reason.of(absent),
  holder: holder.of(absent).example('worker-7'),
  holderSession: holderSession.of(absent).example('worker-7/3'),
  claimedAt: claimedAt.example('2026-01-31T12:00:00.000Z'),
  leaseExpiresAt: leaseExpiresAt.example('2026-01-31T12:01:00.000Z'),
  result: result.of(absent),
  readyAt: readyAt.of(absent),
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

/** A READY or DELAYED task, as /ops/waits shows it. */
export const WaitingTask = record('WaitingTask', {
  taskId: id(),
  groupId,
  mailboxId,
  scopeId,
  waitingSince: time(),
  readyAt,
  /** Of a READY one: its place among those of its run in the mailbox. */
  position: number(1).orNull(),
  /** `DELAY` and `RETRY`, the pause after an attempt, end at readyAt; `RECEIVER`: it is the next of its run to be received. */
  blockedBy: oneOf('HEAD_OF_LINE', 'DELAY', 'RETRY', 'RECEIVER'),
});
