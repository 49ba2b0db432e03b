import type Joi from 'joi';
import { type ErrorTable, messageOf } from '../route/errors.ts';
import type { Route } from '../route/route.ts';
import { codesOf, statusesOf } from '../route/route-errors.ts';
import { exampleOf } from './example.ts';
import { jsonSchema, type Target } from './schema.ts';

type Named = Record<string, object>;

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Headers by name, as references to components. */
export function headers(...names: readonly string[]): Named {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
}

export const everyAnswer = ['X-Request-Id', 'X-API-Version'];
const rates = ['RateLimit', 'RateLimit-Policy'];

/** Failures that many routes share. Each is described once, as a component. */
const shared: Readonly<Record<string, readonly string[]>> = {
  Error400: ['VALIDATION_FAILED'],
  Error400List: ['VALIDATION_FAILED', 'INVALID_CURSOR'],
  Error400Unkeyed: ['VALIDATION_FAILED', 'MALFORMED_JSON'],
  Error400Body: ['VALIDATION_FAILED', 'MALFORMED_JSON', 'IDEMPOTENCY_KEY_INVALID'],
  Error400Key: ['VALIDATION_FAILED', 'MALFORMED_JSON', 'IDEMPOTENCY_KEY_REQUIRED', 'IDEMPOTENCY_KEY_INVALID'],
  Error400Step: ['VALIDATION_FAILED', 'INVALID_CURSOR', 'MALFORMED_JSON', 'IDEMPOTENCY_KEY_INVALID'],
  Error401: ['UNAUTHENTICATED', 'INVALID_API_KEY'],
  Error402: ['OPERATIONS_EXHAUSTED'],
  Error403: ['PERMISSION_DENIED'],
  Error404: ['SPACE_NOT_FOUND'],
  Error413: ['PAYLOAD_TOO_LARGE'],
  Error415: ['UNSUPPORTED_MEDIA_TYPE'],
  Error422: ['IDEMPOTENCY_KEY_REUSED'],
  Error429: ['SERVICE_RATE_LIMITED', 'RATE_LIMITED'],
  Error429Organization: ['SERVICE_RATE_LIMITED'],
  Error500: ['INTERNAL'],
  Error503: ['STORE_UNAVAILABLE'],
};
const names = new Map(Object.entries(shared).map(([name, codes]) => [[...codes].sort().join(), name]));
const sharedCodes = new Set(Object.values(shared).flat());

/** The shared failures, for `components`. */
export function sharedFailures(errors: ErrorTable): Named {
  const statusOfName = (name: string): number => Number(/\d+/.exec(name));
  return Object.fromEntries(
    Object.entries(shared).map(([name, codes]) => [name, failure(statusOfName(name), codes, errors)]),
  );
}

/** All responses of a route, by status. */
export function responses(route: Route, errors: ErrorTable, target: Target): Named {
  const all: Named = {};
  const stream = route.streams && { 'text/event-stream': { schema: { type: 'string' } } };
  for (const [status, reply] of Object.entries(route.success)) {
    const replayed = ['never', 'calls'].includes(route.idempotency) ? [] : ['Idempotent-Replayed'];
    all[status] = {
      description: reply === null ? 'Nothing: no content' : status === '201' ? 'Made' : 'Done',
      headers: headers(...everyAnswer, ...rates, ...replayed),
      ...(reply !== null && { content: { 'application/json': withExample(reply, status, route, target), ...stream } }),
    };
  }
  const byStatus = new Map<number, string[]>();
  for (const code of codesOf(route)) {
    for (const status of statusesOf(errors, code, route)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of byStatus) {
    const name = names.get([...codes].sort().join());
    // The route's own errors come first.
    const ordered = [false, true].flatMap((isShared) => codes.filter((code) => sharedCodes.has(code) === isShared));
    all[status] = name === undefined ? failure(status, ordered, errors) : ref('responses', name);
  }
  return all;
}

function withExample(reply: Joi.Schema, status: string, route: Route, target: Target): object {
  const schema = jsonSchema(reply, target);
  const example = { ...(exampleOf(schema, target) as Record<string, unknown>), ...route.example };
  // Next to a 201, a 200 means that the record existed before.
  if (status === '200' && 201 in route.success && 'replay' in example) example['replay'] = true;
  return { schema, example };
}

/** An error response: the envelope with one of these codes. */
function failure(status: number, codes: readonly string[], errors: ErrorTable): object {
  const extra = status === 401 ? ['WWW-Authenticate'] : status >= 413 && status !== 422 && status !== 429 ? [] : rates;
  const retry = status === 429 || status === 503 ? ['Retry-After'] : [];
  const objectOf = (name: string, schema: object) => ({
    ...{ type: 'object', properties: { [name]: schema } },
    // Linters that close every object would refuse the members that only `Error` has.
    additionalProperties: true,
  });
  const narrowed = objectOf('error', objectOf('code', { type: 'string', enum: codes }));
  const [code = ''] = codes;
  const example = { error: { code, message: messageOf(errors, code), requestId: 'request-4711' } };
  return {
    description: codes.map((code) => `- \`${code}\`: ${messageOf(errors, code)}`).join('\n'),
    headers: headers(...everyAnswer, ...extra, ...retry),
    content: { 'application/json': { schema: { allOf: [ref('schemas', 'Error'), narrowed] }, example } },
  };
}
