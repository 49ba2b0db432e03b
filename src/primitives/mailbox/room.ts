import { counter, number, secondsSince } from '../../engine/declare/field.ts';
import { census, many, nested } from '../../engine/declare/record.ts';
import { maxLooked } from '../../engine/route/list-limits.ts';
import type { Room } from '../room.ts';
import { ErrorCount } from './error-counts.ts';
import { mailboxErrors } from './errors.ts';
import { mailboxEvents } from './events.ts';
import { mailboxKeys } from './keys.ts';
import {
  Attempt,
  AwaitedNote,
  Blocker,
  ChangedMessage,
  Claim,
  HeldClaim,
  Mailbox,
  Message,
  MessageSummary,
  Prerequisite,
  ReceivedClaim,
  SuspendedMessage,
  Suspension,
  WaitBlocker,
  WaitingTask,
} from './records.ts';
import { mailboxRoutes } from './routes.ts';

/** Tasks are counted as messages, less those without a task (`inbox:`), plus tombstones. */
function tasks(messageStates: readonly string[], ...tombstones: readonly string[]) {
  const uses = [...messageStates.flatMap((state) => [`messages:${state}`, `inbox:${state}`]), ...tombstones];
  return number().of(
    (get) => uses.reduce((sum, name) => sum + (name.startsWith('inbox:') ? -1 : 1) * Number(get(name)), 0),
    ...uses,
  );
}

export const mailboxRoom: Room = {
  name: 'mailbox',
  tag: {
    place: 1,
    tools: 'work',
    title: 'Mailboxes',
    description: 'Work queues and inboxes: send, receive under a claim, renew, complete or give back.',
  },
  routes: mailboxRoutes,
  keys: mailboxKeys,
  errors: mailboxErrors,
  records: [
    Mailbox,
    Message,
    MessageSummary,
    ErrorCount,
    ChangedMessage,
    Claim,
    ReceivedClaim,
    HeldClaim,
    Attempt,
    WaitingTask,
    Prerequisite,
    AwaitedNote,
    Suspension,
    SuspendedMessage,
    Blocker,
    WaitBlocker,
  ],
  events: mailboxEvents,
  census: {
    claims: nested({ HELD: counter('messages:CLAIMED') }),
    messages: census(Message),
    tasks: nested({
      PENDING: tasks(['READY', 'DELAYED', 'BLOCKED']),
      RUNNING: tasks(['CLAIMED']),
      SUCCEEDED: tasks(['ACKED'], 'tombstones:SUCCEEDED'),
      FAILED: tasks(['REJECTED', 'FAILED'], 'tombstones:FAILED'),
      EXPIRED: tasks(['EXPIRED'], 'tombstones:EXPIRED'),
      CANCELLED: tasks(['CANCELLED'], 'tombstones:CANCELLED'),
    }),
  },
  backlog: {
    readyMessages: counter('messages:READY').means('READY messages'),
    delayedMessages: counter('messages:DELAYED').means('DELAYED messages'),
    blockedMessages: counter('messages:BLOCKED').means('BLOCKED messages'),
    claimedMessages: counter('messages:CLAIMED').means('CLAIMED messages'),
    oldestReadyAgeSeconds: number()
      .orNull()
      .means('the seconds since the oldest READY message became ready, or null if no message is READY')
      .of((get) => secondsSince(get('oldestReadyAt'), get('now')), 'oldestReadyAt', 'now'),
  },
  waits: {
    heldClaims: many(HeldClaim, maxLooked).means('the live claims'),
    waitingTasks: many(WaitingTask, maxLooked).means('tasks that wait to be received, and why'),
  },
  inRun: { messages: many(MessageSummary) },
  cancelled: { messages: number() },
  extends: { scope: { cancelledMessages: number().or(0).internal() } },
  limits: {
    maxBacklog: {
      meaning: 'the most messages in the space that are not finished: READY, DELAYED, BLOCKED and CLAIMED',
      min: 1,
      max: 1_000_000,
      default: 1_000,
    },
    maxPayloadBytes: {
      meaning: 'the most bytes of a payload, input, result, note or answer to a question, as compact JSON',
      min: 1,
      max: 65_536,
      default: 65_536,
      isGranted: true,
    },
    maxRetainedBytes: {
      meaning:
        'the most bytes of payloads, results, errors, progress, notes, questions and answers that the space keeps before it refuses more work',
      min: 1,
      max: 1_000_000_000_000,
      default: null,
    },
    maxLeaseSeconds: { meaning: 'the longest lease of a claim or a hold', min: 5, max: 600, default: 600 },
  },
};
