import type { EventDeclaration } from '../declare/event.ts';
import { type JsonSchema, jsonSchema, schemaRef, type Target, unionOf } from './schema.ts';

const text = { type: 'string' };
const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: text,
});

/** Adds a schema per event type and their union by `type`. Returns the webhook that sends them to destinations. */
export function* webhooks(events: readonly EventDeclaration[], target: Target): Generator<void, JsonSchema> {
  const byType: [string, JsonSchema][] = [];
  for (const { type, schema } of events) {
    byType.push([type, jsonSchema(schema, target)]);
    yield;
  }
  target.named.set('Event', unionOf('type', byType));
  const message = {
    type: 'object',
    required: ['type', 'timestamp', 'data'],
    additionalProperties: false,
    properties: { type: text, timestamp: { type: 'string', format: 'date-time' }, data: schemaRef('Event') },
  };
  const post = {
    operationId: 'webhook.event',
    summary: 'An event, as sent to destinations (Standard Webhooks 1.0)',
    tags: ['webhook'],
    security: [],
    parameters: [
      header('webhook-id', 'The eventId: the same in every attempt'),
      header('webhook-timestamp', 'The moment of the attempt, in seconds since 1970'),
      header('webhook-signature', '`v1,` and the HMAC-SHA256 of id, timestamp and body in base64, for each secret'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema: message } } },
    responses: { '2XX': { description: 'Accepted; any other answer is retried' } },
  };
  return { event: { post } };
}
