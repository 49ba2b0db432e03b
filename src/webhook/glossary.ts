import type { Glossary } from '../http/openapi/glossary.ts';

/** What the fields of destinations and deliveries mean. */
export const webhookGlossary: Glossary = {
  destinationId: "the destination's id",
  deliveryId: "the delivery's id: one attempt",
  destinations: 'the destinations of this page',
  deliveries: 'the deliveries of this page',
  url: 'where the events are posted to',
  eventTypes: 'the types that it hears of, `message.*` for all of a kind; empty: all',
  disabledReason: 'why it is DISABLED; null: it is not',
  consecutiveFailures: 'how many attempts have failed since the last success',
  lastSuccessAt: 'when an attempt last succeeded; null: never',
  signingSecret: 'what deliveries are signed with; shown here only',
  eventType: "the event's type",
  'Delivery.trigger': 'why it was attempted: as planned, asked for by redeliver, or a test',
  responseStatus: "the receiver's HTTP status; null: there was no answer",
  errorCode: 'why the attempt failed; null: it did not',
  durationMs: 'how long the attempt took',
  attemptedAt: 'when the attempt began',
  nextAttemptAt: 'when the next attempt is due; null: there is none',
  outbox: 'events on their way to destinations',
};
