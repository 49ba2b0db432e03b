import { id, number, oneOf, raw, text, time } from '../declare/field.ts';
import { momentOfId } from '../declare/moment.ts';
import { record } from '../declare/record.ts';
import { anyNumber, errorCode, eventTypes } from './kinds.ts';

export const disabledReason = oneOf('REQUESTED', 'GONE', 'FAILING');

export const Destination = record('Destination', {
  id: id(),
  url: text(),
  eventTypes,
  state: oneOf('ACTIVE', 'DISABLED'),
  disabledReason: disabledReason.orNull(),
  consecutiveFailures: number(),
  lastSuccessAt: time().orNull(),
  createdAt: time().of((get) => momentOfId(get('id'))),
  signingSecret: text(/^whsec_[0-9A-Za-z+/]{43}=$/).secret(),
  /** Also signs, until previousSecretUntil. */
  previousSecret: text().orNull().secret(),
  previousSecretUntil: time().orNull().internal(),
  /** Its position in the journal, and the number of entries ever added up to there. */
  position: text().internal(),
  readCount: number().internal(),
  failingSince: time().orNull().internal(),
});

/** A destination with its new secret. */
export const NewDestination = Destination.with('NewDestination', {
  signingSecret: text(/^whsec_[0-9A-Za-z+/]{43}=$/),
});

/** One attempt; '' is stored for null. */
export const Delivery = record('Delivery', {
  id: id(),
  destinationId: id(),
  eventId: id(),
  eventType: text(),
  attempt: number(1),
  trigger: oneOf('SCHEDULED', 'MANUAL', 'TEST'),
  state: oneOf('SUCCEEDED', 'FAILED'),
  responseStatus: anyNumber.orNull(),
  errorCode: errorCode.orNull(),
  durationMs: number(),
  attemptedAt: time(),
  nextAttemptAt: time().orNull(),
});

/** What to send on request. entry: the journal entry, null for a test. */
export const Sending = record('Sending', {
  at: number(),
  url: text(),
  secrets: raw<string[]>(),
  eventId: id(),
  destinationId: id(),
  entry: raw(),
});

/** An attempt that is due. */
export const DueAttempt = record('DueAttempt', { destinationId: id(), entryId: text(), number: number(1) });
