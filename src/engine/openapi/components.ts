import type { ErrorTable } from '../route/errors.ts';
import { everyAnswer, headers, sharedFailures } from './responses.ts';
import { type NamedSchemas, schemaRef } from './schema.ts';

const text = { type: 'string' };
const requestId = { type: 'string', pattern: '^[A-Za-z0-9._-]{1,128}$' };
export const idempotencyKey = { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' };
const header = (description: string, schema: object) => ({ description, schema });

const keyRule =
  'Names the operation for its retries: new for each operation, the same for all its attempts. Within 24 hours the same request gets the same answer, with Idempotent-Replayed';

const statusOf = (value: string, description: string) => ({
  type: 'object',
  required: ['status'],
  additionalProperties: false,
  properties: { status: { const: value, description } },
});

/** The components that operations refer to. */
export const components = (errors: ErrorTable, named: NamedSchemas) => ({
  responses: sharedFailures(errors),
  securitySchemes: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An API key, or a token of the identity provider that the server accepts; each endpoint names the permission it needs in `x-permission`',
    },
  },
  parameters: {
    SpaceId: {
      name: 'spaceId',
      in: 'path',
      required: true,
      description: 'The space: `GET /v1/spaces` lists those of an API key',
      schema: { type: 'string', format: 'uuid' },
      example: '0190a1b2-0000-7000-8000-5face0000001',
    },
    IdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description: keyRule,
      schema: idempotencyKey,
      example: 'order-4711/1',
    },
    OptionalIdempotencyKey: {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description: keyRule,
      schema: idempotencyKey,
      example: 'order-4711/1',
    },
    LastEventId: {
      name: 'Last-Event-ID',
      in: 'header',
      required: false,
      description:
        'The last event read before a stream broke off: the new stream continues after it, whatever cursor says',
      schema: text,
    },
  },
  headers: {
    'X-Request-Id': header('The id of the request in the log and in events', requestId),
    'X-API-Version': header('The version of this interface', { const: '1' }),
    RateLimit: header('What an ordinary call may still use, and the seconds until the next minute', text),
    'RateLimit-Policy': header("The space's and the organization's requests per minute", text),
    'Retry-After': header('Whole seconds', { type: 'integer', minimum: 0 }),
    'Idempotent-Replayed': header('The answer of an earlier request with the same Idempotency-Key', { const: 'true' }),
    'WWW-Authenticate': header('Bearer', text),
  },
  schemas: {
    ...Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1))),
    Health: statusOf('ok', 'The process answers.'),
    Readiness: statusOf('ready', 'The store takes calls.'),
    Error: {
      type: 'object',
      required: ['error'],
      additionalProperties: false,
      properties: {
        error: {
          type: 'object',
          required: ['code', 'message', 'requestId'],
          additionalProperties: false,
          properties: {
            code: { ...text, description: 'The kind of error, a constant for programs.' },
            message: {
              ...text,
              description: 'The problem in words for people: it names the field, and what would be right.',
            },
            requestId: {
              ...requestId,
              description: 'The id of the request in the log and in events. Quote it to the operator.',
            },
            reason: {
              ...text,
              description:
                'Only of STORE_UNAVAILABLE: why the store takes no calls, in a word for operators, such as OOM or UNREACHABLE.',
            },
            index: {
              type: 'integer',
              minimum: 0,
              description: 'Only of an atomic batch: the index of the call that was refused, from 0.',
            },
            call: { ...text, description: 'Only of an atomic batch: the name of the call that was refused.' },
          },
          description: 'The error.',
        },
      },
    },
  },
});

/** Paths that need no key. */
export function systemPaths(): Record<string, object> {
  const get = (
    operationId: string,
    [summary, description]: [string, string],
    [schema, example]: [object, object],
    failures: object,
  ) => ({
    get: {
      operationId,
      summary,
      description,
      tags: ['system'],
      security: [],
      responses: {
        200: {
          description: 'OK',
          headers: headers(...everyAnswer),
          content: { 'application/json': { schema, example } },
        },
        ...failures,
      },
    },
  });
  const internal = { 500: { $ref: '#/components/responses/Error500' } };
  const unavailable = { ...internal, 503: { $ref: '#/components/responses/Error503' } };
  return {
    '/healthz': get(
      'system.health',
      ['Whether the process answers', 'For a liveness probe. It does not contact the store.'],
      [schemaRef('Health'), { status: 'ok' }],
      internal,
    ),
    '/readyz': get(
      'system.ready',
      ['Whether the store takes calls', 'For readiness probes and load balancers.'],
      [schemaRef('Readiness'), { status: 'ready' }],
      unavailable,
    ),
    '/openapi.json': get(
      'system.openapi',
      ['This document', 'Every path, field, status and error code; `/docs/api` shows it.'],
      [{ type: 'object' }, { openapi: '3.1.0' }],
      internal,
    ),
  };
}
