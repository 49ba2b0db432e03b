import { counter, number } from '../declare/field.ts';
import { secondsSince } from '../declare/moment.ts';
import { census, many, nested } from '../declare/record.ts';
import type { Room } from '../room.ts';
import { mailboxErrors } from './errors.ts';
import { mailboxEvents } from './events.ts';
import { mailboxGlossary } from './glossary.ts';
import { mailboxKeys } from './keys.ts';
import { ChangedMessage, Claim, HeldClaim, Mailbox, Message, MessageSummary, WaitingTask } from './records.ts';
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
  glossary: mailboxGlossary,
  routes: mailboxRoutes,
  keys: mailboxKeys,
  errors: mailboxErrors,
  records: [Mailbox, Message, MessageSummary, ChangedMessage, Claim, HeldClaim, WaitingTask],
  events: mailboxEvents,
  census: {
    claims: nested({ HELD: counter('messages:CLAIMED') }),
    messages: census(Message),
    tasks: nested({
      PENDING: tasks(['READY', 'DELAYED']),
      RUNNING: tasks(['CLAIMED']),
      SUCCEEDED: tasks(['ACKED'], 'tombstones:SUCCEEDED'),
      FAILED: tasks(['REJECTED', 'FAILED'], 'tombstones:FAILED'),
      EXPIRED: tasks(['EXPIRED'], 'tombstones:EXPIRED'),
      CANCELLED: tasks(['CANCELLED'], 'tombstones:CANCELLED'),
    }),
  },
  backlog: {
    readyMessages: counter('messages:READY'),
    delayedMessages: counter('messages:DELAYED'),
    claimedMessages: counter('messages:CLAIMED'),
    oldestReadyAgeSeconds: number()
      .orNull()
      .of((get) => secondsSince(get('oldestReadyAt'), get('now')), 'oldestReadyAt', 'now'),
  },
  waits: { heldClaims: many(HeldClaim, 200), waitingTasks: many(WaitingTask, 200) },
  inRun: { messages: many(MessageSummary) },
  cancelled: { messages: number() },
  extends: { scope: { cancelledMessages: number().or(0).internal() } },
  limits: {
    maxBacklog: { min: 1, max: 1_000_000, default: 1_000 },
    maxPayloadBytes: { min: 1, max: 65_536, default: 65_536, isGranted: true },
    maxLeaseSeconds: { min: 5, max: 600, default: 600 },
  },
};
