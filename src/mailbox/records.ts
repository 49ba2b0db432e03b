import { traceparentForm } from '../call/trace.ts';
import { exampleId, flag, id, number, oneOf, opaque, state, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { many, nested, one, record } from '../declare/record.ts';
import { Question } from '../question/records.ts';
import { afterOf, blockedByOf, onFailureOf, policies } from './prerequisites.ts';
import {
  ClaimConsumption,
  ClaimedUnits,
  consumptionsOf,
  holdsOf,
  Requirements,
  requirementsOf,
} from './requirements.ts';

/** How often a message is delivered before it is FAILED, unless it or its mailbox says otherwise. */
export const defaultAttempts = 5;

const noon = '2026-01-31T12:00:00.000Z';
const maxAttempts = number(1).means('the most attempts before a message is FAILED').example(defaultAttempts);

/** A counter of rare events. */
const total = () => number().or(0).internal();

export const Mailbox = record('Mailbox', {
  id: id().forModels('id of a mailbox, from mailbox_list'),
  name: text(),
  mode: oneOf('WORK', 'INBOX').means(
    'who receives: WORK: any holder; INBOX: its recipientId alone, or anybody if it has none',
  ),
  recipientId: text().orNull().means('the only holder that may receive from an INBOX; null: any holder'),
  backlogLimit: number()
    .means('the most messages it holds that are READY, DELAYED, BLOCKED or CLAIMED')
    .forModels('the most messages that have not ended')
    .example(1_000),
  maxAttempts: maxAttempts.or(defaultAttempts),
  perKey: number(1)
    .orNull()
    .means(
      'how many messages of one key may be READY, CLAIMED or between attempts at once; the others are BLOCKED; null: any number',
    )
    .example(null),
  retryDelaySeconds: number()
    .or(0)
    .means('the pause after the first attempt; it doubles with each further one; 0: none'),
  maxRetryDelaySeconds: number(1).or(3_600).means('the longest pause between two attempts').example(3_600),
  counts: nested({
    ready: number().means('messages ready to be received'),
    delayed: number().or(0).means('messages to be received later'),
    blocked: number().or(0).means('messages that wait for something else'),
    claimed: number().means('messages being worked on'),
    failed: number().means('FAILED messages'),
  }).means('its messages by state'),
  oldestReadyAt: time()
    .orNull()
    .workedOut()
    .means('when its oldest READY message became ready; null: none is')
    .example(null),
  paused: flag().means('whether nothing is received from it until it is resumed'),
  createdAt: time(),
  /** No DELAYED message becomes ready before this. */
  nextReadyAt: time().orNull().internal(),
  /** Messages with a priority or a key among the DELAYED ones. */
  orderedDelayed: number().or(0).internal(),
  /** While workers free messages after `perKey` was raised: the last key they have reached. */
  freedThrough: text().orNull().internal(),
  /** The last turn given; absent until a receive first asks for messages of all runs. */
  turn: number().orNull().internal(),
  /** Groups that deliver their tasks through this mailbox. */
  undecidedGroups: number().or(0).internal(),
  /** With the counts above, these give how often messages were sent, claimed and completed (lua/mailbox/_figures.lua). */
  goneTotal: total(),
  unackedTotal: total(),
  requeuedTotal: total(),
  rejectedTotal: total(),
  failedTotal: total(),
  expiredTotal: total(),
  cancelledTotal: total(),
  /** The minute since 1970 in which one of them last rose; 0 if none did. */
  figuresMinute: number().or(0).internal(),
});

export const messageStates = [
  'READY',
  'DELAYED',
  'BLOCKED',
  'CLAIMED',
  'ACKED',
  'REJECTED',
  'FAILED',
  'EXPIRED',
  'CANCELLED',
] as const;
/** Final states from which a message can be requeued. */
export const requeueableStates = ['REJECTED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;
/** The states of tasks and of their groups. */
export const taskStates = ['PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const;
export const groupStates = ['OPEN', 'SEALED', 'DECIDED'] as const;

export const reason = oneOf(
  'REJECTED_BY_WORKER',
  'ATTEMPTS_EXHAUSTED',
  'DEADLINE_EXCEEDED',
  'GROUP_DECIDED',
  'CANCELLED_BY_CALLER',
  'RUN_CANCELLED',
  'PREREQUISITE_FAILED',
  'QUESTION_EXPIRED',
)
  .orNull()
  .means('why it ended so; null: it has not, or its state says it');

/** A message or a group in another message's `after`. */
export const Prerequisite = record('Prerequisite', {
  messageId: id().orNull().means('the message; null: it is a group'),
  groupId: id().orNull().means('the group; null: it is a message'),
  state: oneOf(...messageStates, 'OPEN', 'SEALED', 'SATISFIED', 'UNSATISFIABLE')
    .orNull()
    .means(
      'how it came out or stands, of a group its outcome once it has one; null: it has not ended, which only the view of the message shows in more detail',
    ),
});

/** The things that a BLOCKED message waits for. */
const blockers = ['MESSAGE', 'GROUP', 'KEY', 'POOL', 'ALLOWANCE', 'QUESTION'] as const;
export const Blocker = record('Blocker', {
  kind: oneOf(...blockers),
  id: id()
    .orNull()
    .means('what it waits for; of KEY with perKey 1 the message that has the place of the key; null: any of several'),
});

/** A blocker of a waiting task, which may also be a paused mailbox or scope. */
export const WaitBlocker = Blocker.with('WaitBlocker', { kind: oneOf(...blockers, 'PAUSED') });

const blockedBy = many(Blocker)
  .of(blockedByOf, 'prerequisites', 'state', 'keyHolder', 'blockedOn')
  .rare()
  .means('what it waits for before anybody may receive it; empty: it is not BLOCKED')
  .example([]);

const lastError = 'the printer is out of paper';

/** When retention removes a message, its task leaves a tombstone, with the mailbox in `tombstoneOf`. */
export const Message = record(
  'Message',
  {
    id: id().forModels('`id` of the message').example(exampleId('messageId')),
    mailboxId: id(),
    scopeId: id(),
    /** Stored only if it differs from the message's id; '' if there is no task. */
    taskId: id()
      .orNull()
      .or('=id')
      .means("the id of the message's task; null: it carries none")
      .example(exampleId('messageId')),
    groupId: id().orNull().means("the group's id; null: of no group"),
    taskKey: text().orNull().means("the caller's name for the task, unique in its group"),
    state: state('messages', ...messageStates),
    reason: reason.later(),
    priority: number(0, 9).or(0).later().rare().means('messages of a higher priority are received first'),
    key: text()
      .orNull()
      .later()
      .rare()
      .means('what it is about, such as a customer; perKey limits messages with the same key; null: none')
      .example(null),
    attempts: number().or(0),
    /** Stored only if it is not 5. */
    maxAttempts: maxAttempts.or(defaultAttempts),
    lastError: text()
      .orNull()
      .later()
      .rare()
      .means('the error of the last attempt that gave one; null: none did')
      .example(lastError),
    progress: opaque()
      .orNull()
      .later()
      .rare()
      .means('the last progress that a renewal or a question reported, for the next attempt')
      .example(null),
    workKey: text().orNull().example('order-4711'),
    after: many(Prerequisite)
      .of(afterOf, 'prerequisites')
      .rare()
      .means('what had to succeed before it could be received')
      .example([]),
    onFailure: oneOf(...policies)
      .orNull()
      .of(onFailureOf, 'prerequisites')
      .rare()
      .means('what happens to it if one of them does not succeed; null: it has no prerequisites'),
    requires: one(Requirements)
      .orNull()
      .of(requirementsOf, 'required')
      .rare()
      .means('what a claim of it takes; null: nothing')
      .example(null),
    blockedBy,
    holds: many(ClaimedUnits)
      .of(holdsOf, 'held')
      .rare()
      .means('the units of pools that its claim holds; empty: none')
      .example([]),
    consumptions: many(ClaimConsumption)
      .of(consumptionsOf, 'used')
      .rare()
      .means('what its claim has used of allowances; empty: nothing')
      .example([]),
    question: one(Question)
      .orNull()
      .workedOut()
      .rare()
      .means('the last question that it asked, with its answer; null: it has asked none'),
    traceparent: text(traceparentForm)
      .orNull()
      .later()
      .rare()
      .means('where it was sent in a trace, as W3C Trace Context has it; null: in none')
      .example('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
    tracestate: text().orNull().later().rare().means('what tracing systems added to that; null: nothing').example(null),
    payload: opaque(),
    deadline: time().orNull(),
    readyAt: time().orNull().later().means('when a DELAYED message becomes ready; null: it is not delayed'),
    holder: text().orNull().later(),
    holderSession: text().orNull().later().means('the session of its holder'),
    claimedAt: time()
      .orNull()
      .later()
      .means('when the present claim began, or the one with which it ended; null: there is none'),
    leaseExpiresAt: time().orNull().later().means('when the claim ends unless it is renewed'),
    result: opaque().orNull().later().means('the result that complete recorded; null: none').example(null),
    createdAt: time().of((get) => momentOfId(get('id'))),
    finishedAt: time().orNull().later(),
    token: text().orNull().later().secret(),
    /** Precedes the id in the queue if the message was given back or has rare fields (lua/mailbox/_ready.lua). */
    place: text().orNull().later().internal(),
    resultMessageId: id().orNull().later().internal(),
    groupState: text().orNull().later().internal(),
    tombstoneOf: id().orNull().later().internal(),
    /** See lua/mailbox/_after.lua. */
    prerequisites: text().orNull().later().internal(),
    /** See lua/mailbox/_requires.lua. */
    required: text().orNull().later().internal(),
    /** The last question it has asked. */
    questionId: id().orNull().later().internal(),
    /** POOL or ALLOWANCE and its id while units are short; QUESTION and its id while it waits for an answer. */
    blockedOn: text().orNull().later().internal(),
    /** While it is CLAIMED: units of pools, and consumptions of allowances (lua/mailbox/_requires.lua). */
    held: text().orNull().later().internal(),
    used: text().orNull().later().internal(),
    /** Its last attempts, unless it was ACKED at the first: see lua/mailbox/_attempts.lua. */
    pastAttempts: text().orNull().later().internal(),
    /** The number of times that its end left dependents to the workers. */
    ends: number().or(0).later().internal(),
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

export const MessageSummary = Message.without('MessageSummary', 'payload', 'result', 'progress', 'question');

/** The reply of cancel and requeue, without the payload. */
export const ChangedMessage = Message.without('ChangedMessage', 'payload');

/** The answer of recv. The script does not send values that are in the request or the same for all claims. */
const absent = () => null;
export const Claim = Message.with('Claim', {
  mailboxId: mailboxId.of(() => ''),
  state: Message.fields.state.of(() => 'CLAIMED').example('CLAIMED'),
  reason: reason.of(absent),
  // Sent if the request left it out.
  holder: holder
    .of((get) => get('ownName'), 'ownName')
    .rare()
    .example('worker-7'),
  holderSession: holderSession.of(absent).example('worker-7/3'),
  claimedAt: claimedAt.example(noon),
  leaseExpiresAt: leaseExpiresAt.example('2026-01-31T12:01:00.000Z'),
  result: result.of(absent),
  readyAt: readyAt.of(absent),
  finishedAt: finishedAt.of(absent),
  blockedBy: blockedBy.of(() => []),
  token: text().means("the claim's secret, for renew, complete and nack").example('q1Yw3T0dB8mLr5vXz7Nc2A'),
  attempt: number().named('attempts'),
  leaseSeconds: number().means('the lease, from when it was made or renewed').example(60),
});

/** One delivery of a message to a worker. */
export const Attempt = record('Attempt', {
  attempt: number(1).means('its number, from 1; a requeue begins anew').example(2),
  holder: text(),
  claimedAt: time().means('when it began').example(noon),
  endedAt: time().orNull().means('when it was over; null: it goes on').example('2026-01-31T12:01:00.000Z'),
  outcome: oneOf('RETURNED', 'UNTRIED', 'REJECTED', 'LEASE_EXPIRED', 'ASKED', 'ACKED', 'EXPIRED', 'CANCELLED')
    .orNull()
    .means(
      'how it ended: UNTRIED: given back without counting as an attempt; ASKED: put aside until its question is answered; null: it goes on',
    )
    .example('RETURNED'),
  error: text().orNull().means('what its worker reported, at most 300 bytes of it; null: nothing').example(lastError),
  progress: opaque()
    .orNull()
    .means('the progress of the message when it ended; null: none, or one of more than 256 bytes')
    .example(null),
});

/**
 * A claim with `place`, for metrics only: it contains the time since which the message was ready; without a place, the
 * id does.
 */
export const ReceivedClaim = Claim.with('ReceivedClaim', { place: text().orNull().rare() });
/** A live claim, as /ops/waits shows it. */
export const HeldClaim = record('HeldClaim', {
  messageId: id().named('id'),
  mailboxId,
  taskId,
  scopeId,
  holder: text(),
  holderSession: text().example('worker-7/3'),
  attempt: number(1).named('attempts').means('the number of this attempt, from 1').example(2),
  claimedAt: time().means('when the claim began'),
  leaseExpiresAt: time().example('2026-01-31T12:01:00.000Z'),
  holds: Message.fields.holds,
});

/** A task that nobody has claimed yet, as /ops/waits shows it. */
export const WaitingTask = record('WaitingTask', {
  taskId: id(),
  groupId,
  mailboxId,
  scopeId,
  waitingSince: time(),
  readyAt,
  position: number(1)
    .orNull()
    .means('its place among the READY ones of its run in the mailbox; null: not READY')
    .example(1),
  /** DELAY, and RETRY (the pause after an attempt), end at readyAt; RECEIVER: it is the next of its run to be received. */
  waitsFor: oneOf('HEAD_OF_LINE', 'DELAY', 'RETRY', 'RECEIVER', 'BLOCKED', 'PAUSED').means('the reason for its wait'),
  blockedBy: many(WaitBlocker)
    .of(
      (get) => (get('pausedBy') ? [['PAUSED', get('pausedBy')]] : blockedByOf(get)),
      ...['prerequisites', 'state', 'keyHolder', 'blockedOn', 'pausedBy'],
    )
    .means('what has to happen before it may be received')
    .example([]),
});
