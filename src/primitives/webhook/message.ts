import { createHmac } from 'node:crypto';
import { iso } from '../../engine/declare/field.ts';
import type { Value } from '../../engine/declare/value.ts';
import { stringify } from '../../engine/route/json.ts';
import { eventRecord } from '../event/record.ts';

/** A message of Standard Webhooks 1.0. */
export interface Message {
  readonly eventId: string;
  readonly eventType: string;
  /** The event's trace; null if it has none. */
  readonly traceparent: string | null;
  readonly body: string;
}

/** The message of an event, from its journal entry. */
export function eventMessage(spaceId: string, entry: Value): Message {
  const data = eventRecord(spaceId, entry);
  const body = stringify({ type: data.type, timestamp: data.occurredAt, data });
  return { eventId: data.eventId, eventType: data.type, traceparent: data.traceparent, body };
}

/** The message of a test: an event that is not in the journal. */
export function testMessage(eventId: string, destinationId: string, at: number): Message {
  const type = 'destination.test';
  const data = {
    eventId,
    type,
    aggregate: 'destination',
    aggregateId: destinationId,
    scopeId: null,
    occurredAt: iso(at),
    requestId: null,
    traceparent: null,
    payload: { destinationId },
  };
  return { eventId, eventType: type, traceparent: null, body: stringify({ type, timestamp: data.occurredAt, data }) };
}

/** The headers of a message, signed with every valid secret; `at`: epoch milliseconds. */
export function messageHeaders(message: Message, secrets: readonly string[], at: number): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const signed = `${message.eventId}.${timestamp}.${message.body}`;
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  });
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'Muster-Webhooks/1',
    'webhook-id': message.eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
    ...(message.traceparent !== null && { traceparent: message.traceparent }),
  };
}
