import type Joi from 'joi';
import type { ErrorTable } from '../errors.ts';
import type { Route } from '../route.ts';
import { codesOf, statusOf } from '../route-errors.ts';
import { exampleOf } from './example.ts';
import { jsonSchema, type NamedSchemas } from './schema.ts';

type Named = Record<string, object>;

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

/** Headers by name, as references to components. */
export function headers(...names: readonly string[]): Named {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]));
}

export const everyAnswer = ['X-Request-Id', 'X-API-Version'];
const rates = ['RateLimit', 'RateLimit-Policy'];

/** Failures that are the same on all routes: components, which responses refer to. */
const shared = new Map<number, readonly string[]>([
  [401, ['UNAUTHENTICATED', 'INVALID_API_KEY']],
  [403, ['PERMISSION_DENIED']],
  [413, ['PAYLOAD_TOO_LARGE']],
  [415, ['UNSUPPORTED_MEDIA_TYPE']],
  [422, ['IDEMPOTENCY_KEY_REUSED']],
  [500, ['INTERNAL']],
  [503, ['STORE_UNAVAILABLE']],
]);

/** Those failures, for `components`. */
export function sharedFailures(errors: ErrorTable): Named {
  return Object.fromEntries([...shared].map(([status, codes]) => [`Error${status}`, failure(status, codes, errors)]));
}

/** All responses of a route, by status. */
export function responses(route: Route, errors: ErrorTable, named: NamedSchemas): Named {
  const all: Named = {};
  const stream = route.streams && { 'text/event-stream': { schema: { type: 'string' } } };
  for (const [status, reply] of Object.entries(route.success)) {
    const replayed = ['never', 'calls'].includes(route.idempotency) ? [] : ['Idempotent-Replayed'];
    all[status] = {
      description: reply === null ? 'Nothing: no content' : status === '201' ? 'Made' : 'Done',
      headers: headers(...everyAnswer, ...rates, ...replayed),
      ...(reply !== null && { content: { 'application/json': withExample(reply, status, route, named), ...stream } }),
    };
  }
  const byStatus = new Map<number, string[]>();
  for (const code of codesOf(route)) {
    const status = statusOf(errors, code, `/v1/spaces/:spaceId${route.path}`);
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const [status, codes] of byStatus) {
    const common = shared.get(status)?.join() === codes.join();
    all[status] = common ? ref('responses', `Error${status}`) : failure(status, codes, errors);
  }
  return all;
}

function withExample(reply: Joi.Schema, status: string, route: Route, named: NamedSchemas): object {
  const schema = jsonSchema(reply, named);
  const example = { ...(exampleOf(schema, named) as Record<string, unknown>), ...route.example };
  // Beside 201, 200 is what was there before.
  if (status === '200' && 201 in route.success && 'replay' in example) example['replay'] = true;
  return { schema, example };
}

/** An error response: the envelope with one of these codes. */
function failure(status: number, codes: readonly string[], errors: ErrorTable): object {
  const extra = status === 401 ? ['WWW-Authenticate'] : status >= 413 && status !== 422 && status !== 429 ? [] : rates;
  const retry = status === 429 || status === 503 ? ['Retry-After'] : [];
  const narrowed = { properties: { error: { properties: { code: { enum: codes } } } } };
  return {
    description: codes.map((code) => `- \`${code}\`: ${meaning(code, errors)}`).join('\n'),
    headers: headers(...everyAnswer, ...extra, ...retry),
    content: { 'application/json': { schema: { ...ref('schemas', 'Error'), ...narrowed } } },
  };
}

/** The code's message, with … for its variable parts. */
function meaning(code: string, errors: ErrorTable): string {
  if (code === 'VALIDATION_FAILED') return 'a field is missing, unknown or has the wrong shape: the message says which';
  const sentence = errors[code]?.message('… … …') ?? '';
  return sentence.replaceAll(/…( …)+/g, '…');
}
