import type { ErrorTable } from './errors.ts';
import { isOfSpace, patternOf, type Route } from './route.ts';

/** The codes that every route may answer. */
const everyRoute = [
  'VALIDATION_FAILED',
  'UNAUTHENTICATED',
  'INVALID_API_KEY',
  'SERVICE_RATE_LIMITED',
  'INTERNAL',
  'STORE_UNAVAILABLE',
];

/** Methods whose body is read. */
export const bodyMethods: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/** Every error code that a route can answer. */
export function codesOf(route: Route): readonly string[] {
  const codes = [...everyRoute, ...route.refuses];
  if (route.permission !== 'any') codes.push('PERMISSION_DENIED');
  if (isOfSpace(route)) codes.push('SPACE_NOT_FOUND');
  if (route.rate === undefined || route.rate === 'operator') codes.push('RATE_LIMITED');
  if (route.hold || route.streams) codes.push('CONNECTIONS_LIMITED');
  if (bodyMethods.has(route.method)) codes.push('MALFORMED_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  if (route.idempotency === 'required') codes.push('IDEMPOTENCY_KEY_REQUIRED');
  if (route.idempotency !== 'never') codes.push('IDEMPOTENCY_KEY_INVALID');
  if (route.idempotency !== 'never' && route.idempotency !== 'calls') codes.push('IDEMPOTENCY_KEY_REUSED');
  const own = codes.filter((code) => route.rate !== 'held' || code !== 'SERVICE_RATE_LIMITED');
  return [...new Set([...own, ...(route.parts ?? []).flatMap(codesOf)])];
}

/** The start of a detail that names a query parameter. */
const inQuery = 'query.';

/** The path parameter that a `…_NOT_FOUND` code is about, such as `mailboxId`. */
function idOf(code: string): string | undefined {
  const [, kind] = /^([A-Z]+)_NOT_FOUND$/.exec(code) ?? [];
  return kind === undefined ? undefined : `${kind.toLowerCase()}Id`;
}

/**
 * The status of a refusal on a route with the full path `pattern` (`patternOf`). An unknown id is 404 if it is in the path or
 * the query, and 409 with the same code if it is in the body. detail: the code's detail; it names a field of the body, or of
 * the query (`query.mailboxId`), or is ''.
 */
export function statusOf(errors: ErrorTable, code: string, pattern: string, detail = ''): number {
  const id = errors[code]?.parameter ?? idOf(code);
  if (id !== undefined && id !== 'routeId') {
    const isInPath = detail === '' && pattern.split('/').includes(`:${id}`);
    return isInPath || detail.startsWith(inQuery) ? 404 : 409;
  }
  return errors[code]?.status ?? 500;
}

/** The possible statuses of a code on a route. A GET has no body. */
export function statusesOf(errors: ErrorTable, code: string, route: Route): number[] {
  const { method, refusesInBody, parts = [] } = route;
  const ofParts = parts
    .filter((part) => codesOf(part).includes(code))
    .flatMap((part) => statusesOf(errors, code, part));
  if (ofParts.length > 0) return [...new Set(ofParts)];
  const status = statusOf(errors, code, patternOf(route), method === 'GET' ? inQuery : '');
  return refusesInBody?.includes(code) ? [status, 409] : [status];
}
