import {
  exampleId,
  flag,
  id,
  momentOfId,
  number,
  oneOf,
  opaque,
  state,
  text,
  time,
} from '../../engine/declare/field.ts';
import { many, nested, one, record } from '../../engine/declare/record.ts';
import { traceparentForm } from '../../engine/route/trace.ts';
import { Question } from '../question/records.ts';
import { afterOf, blockedByOf, blockerUses, policies, suspensionOf } from './prerequisites.ts';
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
    'who may receive from it: with WORK any holder, with INBOX its recipientId alone, or anyone if it has none',
  ),
  recipientId: text().orNull().means('the only holder that may receive from an INBOX, or null if any may'),
  backlogLimit: number().means('the most messages it holds that are READY, DELAYED, BLOCKED or CLAIMED').example(1_000),
  maxAttempts: maxAttempts.or(defaultAttempts),
  perKey: number(1)
    .orNull()
    .means(
      'how many messages of one key may be READY, CLAIMED or between attempts at once, while the others are BLOCKED; null if any number may',
    )
    .example(null),
  retryDelaySeconds: number()
    .or(0)
    .means('the pause after the first attempt, which doubles with each further one; 0 for no pauses'),
  maxRetryDelaySeconds: number(1).or(3_600).means('the longest pause between two attempts').example(3_600),
  attemptSeconds: number(1)
    .orNull()
    .means('the most seconds that an attempt may take unless the message says otherwise, or null for any time')
    .example(null),
  progressEvents: flag().means('whether progress reports emit message.progressed'),
  counts: nested({
    ready: number().means('messages ready to be received'),
    delayed: number().or(0).means('messages to be received later'),
    blocked: number().or(0).means('messages that wait for something else'),
    claimed: number().means('messages being worked on'),
    failed: number().means('FAILED messages'),
    acked: number()
      .orNull()
      .workedOut()
      .means('ACKED messages that are still kept; null in a mailbox that was created before 0.2')
      .example(12),
  }).means('its messages by state'),
  oldestReadyAt: time()
    .orNull()
    .workedOut()
    .means('when its oldest READY message became ready, or null if no message is READY')
    .example(null),
  paused: flag().means('whether nothing is received from it until it is resumed'),
  createdAt: time(),
  /** No DELAYED message becomes ready before this. */
  nextReadyAt: time().orNull().internal(),
  /** Messages with a priority or a key among the DELAYED ones. */
  orderedDelayed: number().or(0).internal(),
  /** While workers free messages after `perKey` was raised: the last key they have reached. */
  freedThrough: text().orNull().internal(),
  /** The last turn given; absent until a receive first asks for messages of all runs, negative until they all have one. */
  turn: number().orNull().internal(),
  /** The last head that was copied to the turns, score and id; only while they are copied. */
  turnsThrough: text().orNull().later().internal(),
  /** ACKED messages that were removed; absent in a mailbox of an earlier version, which did not count them. */
  ackedRemoved: number().orNull().internal(),
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
  'SUSPEND_TIMEOUT',
)
  .orNull()
  .means('why it ended, or null if it has not ended or its state says why');

/** A message, a group or a scope that another message is after, or was suspended for. */
export const Prerequisite = record('Prerequisite', {
  messageId: id().orNull().means('the message, or null if it is a group or a scope'),
  groupId: id().orNull().means('the group, or null if it is a message or a scope'),
  scopeId: id().orNull().means('the scope, or null if it is a message or a group').example(null),
  state: oneOf(...messageStates, 'OPEN', 'SEALED', 'SATISFIED', 'UNSATISFIABLE', 'ACTIVE', 'IDLE')
    .orNull()
    .means(
      'its final state, the outcome of a group, or IDLE or CANCELLED for a scope; only the view of the message also shows states before the end; null if it has not ended',
    ),
});

/** The note that a suspension waits for. */
export const AwaitedNote = record('AwaitedNote', {
  scopeId: id(),
  key: text().means('the key of the note').example('plan'),
  sinceVersion: number().means('the version that it is to have no longer; 0 if there was no such note').example(0),
});

/** The last suspension of a message. */
export const Suspension = record('Suspension', {
  since: time().means('when its holder suspended it').example(noon),
  after: many(Prerequisite).means('the messages, groups and scopes that had to end'),
  note: one(AwaitedNote).orNull().means('the note that had to change, or null if it waited for none').example(null),
  until: time().orNull().means('when its sleep ends, or null if it does not sleep').example(null),
  timeoutAt: time().means('when it continues or fails in any case').example('2026-03-02T12:00:00.000Z'),
  any: flag().means('whether one of the conditions is enough'),
  wokenBy: oneOf('CONDITION', 'TIMEOUT').orNull().means('why it continued, or null if it has not').example('CONDITION'),
});

/** The things that a BLOCKED message waits for. */
const blockers = ['MESSAGE', 'GROUP', 'SCOPE', 'NOTE', 'TIME', 'KEY', 'POOL', 'ALLOWANCE', 'QUESTION'] as const;
export const Blocker = record('Blocker', {
  kind: oneOf(...blockers),
  id: id()
    .orNull()
    .means(
      'the id of the object that it waits for; of a NOTE, its scope; if it waits for its KEY and perKey is 1, the message that has the key; null if it may be any of several, or for TIME',
    ),
});

/** A blocker of a waiting task, which may also be a paused mailbox or scope. */
export const WaitBlocker = Blocker.with('WaitBlocker', { kind: oneOf(...blockers, 'PAUSED') });

const blockedBy = many(Blocker)
  .of(blockedByOf, ...blockerUses)
  .rare()
  .means('the reasons why it cannot be received yet; empty if it is not BLOCKED')
  .example([]);

const lastError = 'the printer is out of paper';

/** When retention removes a message, its task leaves a tombstone, with the mailbox in `tombstoneOf`. */
export const Message = record(
  'Message',
  {
    id: id().forModels('`id` of the message').example(exampleId('messageId')),
    mailboxId: id(),
    scopeId: id().kept(),
    /** Stored only if it differs from the message's id; '' if there is no task. */
    taskId: id()
      .orNull()
      .or('=id')
      .kept()
      .means("the id of the message's task, or null if it carries none")
      .example(exampleId('messageId')),
    groupId: id().orNull().kept().means('the id of its group, or null if it belongs to none'),
    taskKey: text().orNull().kept().means("the caller's name for the task, unique in its group"),
    state: state('messages', ...messageStates).kept(),
    reason: reason.later().kept(),
    priority: number(0, 9).or(0).later().rare().means('messages of a higher priority are received first'),
    key: text()
      .orNull()
      .later()
      .rare()
      .means('the subject of the message, such as a customer, for perKey, or null if it has none')
      .example(null),
    attempts: number().or(0).later().kept(),
    /** Stored only if it is not 5. */
    maxAttempts: maxAttempts.or(defaultAttempts),
    retryDelaySeconds: number()
      .orNull()
      .later()
      .rare()
      .means("its own pause after the first attempt, which doubles with each further one, or null for its mailbox's")
      .example(null),
    maxRetryDelaySeconds: number(1)
      .orNull()
      .later()
      .rare()
      .means("its own longest pause between two attempts, or null for its mailbox's")
      .example(null),
    attemptSeconds: number(1)
      .orNull()
      .later()
      .rare()
      .means("the most seconds that an attempt of it may take, or null for its mailbox's limit")
      .example(null),
    attemptEndsAt: time()
      .orNull()
      .later()
      .rare()
      .means('when the present attempt ends, however often it is renewed, or null if it has no limit')
      .example(null),
    lastError: text()
      .orNull()
      .later()
      .rare()
      .means('the error that an attempt last reported, or that its lease ended, or null if none did')
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
      .means('the messages, groups and scopes that had to succeed before it could be received')
      .example([]),
    onFailure: oneOf(...policies)
      .orNull()
      .of({ wordOf: 'prerequisites' }, 'prerequisites')
      .rare()
      .means('what happens to it if one of them does not succeed, or null if it has no prerequisites'),
    requires: one(Requirements)
      .orNull()
      .of(requirementsOf, 'required')
      .rare()
      .means('the units that each claim of it takes, or null if it takes none')
      .example(null),
    blockedBy,
    holds: many(ClaimedUnits)
      .of(holdsOf, 'held')
      .rare()
      .means('the units of pools that its claim holds; empty if it holds none')
      .example([]),
    consumptions: many(ClaimConsumption)
      .of(consumptionsOf, 'used')
      .rare()
      .means('the units of allowances that its claim has used; empty if it has used none')
      .example([]),
    question: one(Question)
      .orNull()
      .workedOut()
      .rare()
      .means('the last question that it asked, with its answer, or null if it has asked none'),
    suspension: one(Suspension)
      .orNull()
      .of(suspensionOf, 'suspended', 'awaited', 'awaitedNote')
      .rare()
      .means('its last suspension, or null if it was not suspended since it was sent or requeued')
      .example(null),
    traceparent: text(traceparentForm)
      .orNull()
      .later()
      .rare()
      .means('the position in a trace from which it was sent, as in W3C Trace Context, or null if it was sent in none')
      .example('00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'),
    tracestate: text()
      .orNull()
      .later()
      .rare()
      .means('the additions of tracing systems to that, or null if there are none')
      .example(null),
    payload: opaque(),
    deadline: time().orNull(),
    readyAt: time().orNull().later().means('when a DELAYED message becomes ready, or null if it is not delayed'),
    holder: text().orNull().later(),
    holderSession: text().orNull().later().means('the session of its holder'),
    claimedAt: time()
      .orNull()
      .later()
      .means('when the present claim began, or the last one if it has ended; null if there is none'),
    leaseExpiresAt: time().orNull().later().means('when the claim ends unless it is renewed'),
    result: opaque()
      .orNull()
      .later()
      .means('the result with which it was completed, or null if there is none')
      .example(null),
    createdAt: time().of((get) => momentOfId(get('id'))),
    finishedAt: time().orNull().later().kept(),
    token: text().orNull().later().secret(),
    /** Precedes the id in the queue if the message was given back or has rare fields (lua/mailbox/_ready.lua). */
    place: text().orNull().later().internal(),
    resultMessageId: id().orNull().later().internal(),
    groupState: text().orNull().later().internal(),
    tombstoneOf: id().orNull().later().kept().internal(),
    /** See lua/mailbox/_prerequisite.lua. */
    prerequisites: text().orNull().later().internal(),
    /** See lua/mailbox/_requires.lua. */
    required: text().orNull().later().internal(),
    /** The last question it has asked. */
    questionId: id().orNull().later().internal(),
    /** See lua/mailbox/_suspension.lua. */
    suspended: text().orNull().later().internal(),
    awaited: text().orNull().later().internal(),
    awaitedNote: text().orNull().later().internal(),
    /** How often it was suspended. */
    suspensions: number().or(0).later().internal(),
    /** POOL or ALLOWANCE and its id while units are short; QUESTION and its id, or SUSPENSION, while it is put aside. */
    blockedOn: text().orNull().later().internal(),
    /** While it is CLAIMED: units of pools, and consumptions of allowances (lua/mailbox/_requires.lua). */
    held: text().orNull().later().internal(),
    used: text().orNull().later().internal(),
    /** Its last attempts, unless it was ACKED at the first: see lua/mailbox/_claim.lua. */
    pastAttempts: text().orNull().later().internal(),
    /** When the last message.progressed was emitted. */
    progressedAt: time().orNull().later().internal(),
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

export const MessageSummary = Message.without(
  'MessageSummary',
  'payload',
  'result',
  'progress',
  'question',
  'suspension',
);

/** The reply of cancel and requeue, without the payload. */
export const ChangedMessage = Message.without('ChangedMessage', 'payload');

/** The answer of recv. The script does not send values that are in the request or the same for all claims. */
const absent = () => null;
export const Claim = Message.without('Claim', 'retryDelaySeconds', 'maxRetryDelaySeconds').with('Claim', {
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
  leaseSeconds: number().means('the length of the lease, from the claim or its last renewal').example(60),
});

/** The answer of suspend: it may be READY at once. */
export const SuspendedMessage = record('SuspendedMessage', {
  id: Message.fields.id,
  state: oneOf('BLOCKED', 'READY', 'CANCELLED'),
  blockedBy,
});

/** One delivery of a message to a worker. */
export const Attempt = record('Attempt', {
  attempt: number(1).means('its number, from 1; a requeue starts again from 1').example(2),
  holder: text(),
  claimedAt: time().means('when it began').example(noon),
  endedAt: time().orNull().means('when it ended, or null if it is still running').example('2026-01-31T12:01:00.000Z'),
  outcome: oneOf(
    'RETURNED',
    'RELEASED',
    'UNTRIED',
    'REJECTED',
    'LEASE_EXPIRED',
    'ASKED',
    'SUSPENDED',
    'ACKED',
    'EXPIRED',
    'CANCELLED',
  )
    .orNull()
    .means(
      'how it ended: RELEASED if an operator took its claim away, UNTRIED if it was given back without counting as an attempt, ASKED if it waits for the answer to a question, SUSPENDED if it waits for something else; null if it is still running',
    )
    .example('RETURNED'),
  error: text()
    .orNull()
    .means(
      'the error that its worker reported, at most 300 bytes of it, or that its lease ended or an operator released it; null if it reported none',
    )
    .example(lastError),
  progress: opaque()
    .orNull()
    .means('the progress of the message when it ended, or null if there was none, or one of more than 256 bytes')
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
    .means('its place among the READY messages of its run in the mailbox, or null if it is not READY')
    .example(1),
  /** DELAY, and RETRY (the pause after an attempt), end at readyAt; RECEIVER: it is the next of its run to be received. */
  waitsFor: oneOf('HEAD_OF_LINE', 'DELAY', 'RETRY', 'RECEIVER', 'BLOCKED', 'PAUSED').means('the reason for its wait'),
  blockedBy: many(WaitBlocker)
    .of((get) => (get('pausedBy') ? [['PAUSED', get('pausedBy')]] : blockedByOf(get)), ...blockerUses, 'pausedBy')
    .means('what has to happen before it may be received')
    .example([]),
});
