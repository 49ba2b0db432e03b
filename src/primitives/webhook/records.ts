import { flag, id, momentOfId, number, oneOf, raw, text, time } from '../../engine/declare/field.ts';
import { record } from '../../engine/declare/record.ts';
import { anyNumber, errorCode, eventTypes } from './kinds.ts';

export const disabledReason = oneOf('REQUESTED', 'GONE', 'FAILING');

export const Destination = record('Destination', {
  id: id(),
  url: text().means('the address that events are posted to').example('https://example.com/events'),
  eventTypes: eventTypes
    .means(
      'the event types sent to it, `message.*` for all of a kind; if empty, all but those of destinations and deliveries',
    )
    .example(['message.*']),
  state: oneOf('ACTIVE', 'DISABLED'),
  disabledReason: disabledReason.orNull().means('why it is DISABLED, or null if it is not'),
  consecutiveFailures: number().means('the scheduled attempts that failed since the last success'),
  failingSince: time().orNull().means('when the first of them failed, or null if none did').example(null),
  lastSuccessAt: time().orNull().means('when an attempt last succeeded, or null if none ever did'),
  waiting: number().workedOut().means('the events that are to be delivered to it: those of its types that were read'),
  oldestWaitingAt: time()
    .orNull()
    .workedOut()
    .means('when the oldest event happened that it is still to get, or null if there is none')
    .example(null),
  unread: number()
    .workedOut()
    .means('the events of its types that are still to be read, of the next 500 in the journal'),
  unreadIsPartial: flag().workedOut().means('whether more events follow that were not looked at, wanted or not'),
  createdAt: time().of((get) => momentOfId(get('id'))),
  signingSecret: text(/^whsec_[0-9A-Za-z+/]{43}=$/).secret(),
  /** Also signs until previousSecretUntil. */
  previousSecret: text().orNull().secret(),
  previousSecretUntil: time().orNull().internal(),
  /** What waits is due now, whatever its next attempt was planned for (lua/webhook/dispatch.lua). */
  hurried: flag().later().internal(),
  /** Its position in the journal, and the number of entries ever added up to there. */
  position: text().internal(),
  readCount: number().internal(),
});

/** A destination with its new secret. */
export const NewDestination = Destination.with('NewDestination', {
  signingSecret: text(/^whsec_[0-9A-Za-z+/]{43}=$/)
    .means('the secret that deliveries are signed with; shown here only')
    .example(`whsec_${'A'.repeat(43)}=`),
});

/** One attempt; '' is stored for null. */
export const Delivery = record('Delivery', {
  id: id().means('the id of the delivery, which is one attempt'),
  destinationId: id(),
  eventId: id(),
  eventType: text().means("the event's type").example('message.sent'),
  attempt: number(1).means('the number of this attempt, from 1'),
  trigger: oneOf('SCHEDULED', 'MANUAL', 'TEST').means(
    'why it was made: SCHEDULED as planned, MANUAL by a redelivery, TEST by a test',
  ),
  state: oneOf('SUCCEEDED', 'FAILED'),
  responseStatus: anyNumber.orNull().means("the receiver's HTTP status, or null if it did not answer").example(200),
  errorCode: errorCode.orNull().means('why the attempt failed, or null if it did not'),
  durationMs: number().means('the duration of the attempt').example(120),
  attemptedAt: time().means('when the attempt began').example('2026-01-31T12:00:00.000Z'),
  nextAttemptAt: time().orNull().means('when the next attempt is due, or null if there is none'),
});

/** The event to send on request. entry: the journal entry, null for a test. */
export const Sending = record('Sending', {
  at: number(),
  url: text(),
  secrets: raw<string[]>(),
  eventId: id(),
  destinationId: id(),
  entry: raw(),
});

export const DueAttempt = record('DueAttempt', { destinationId: id(), entryId: text(), number: number(1) });
