import { pathNames, type Route } from '../route/route.ts';
import type { Call, CallParts, Origin } from './call.ts';

type Fields = Readonly<Record<string, unknown>>;

const origin: Origin = { parameter: 'a field', field: 'a field', prefix: '', path: '', key: 'idempotencyKey' };

/** A call whose path parameters, query parameters and body fields are members of one object. */
export function callFromObject(fields: Fields, call: Omit<Call, 'origin' | 'parts'>): Call {
  return { ...call, origin, parts: (route) => partsOf(fields, call.spaceId, route) };
}

/** The names of the fields that a route takes. */
export function fieldNames(route: Route): {
  readonly path: readonly string[];
  readonly query: readonly string[];
  readonly body: readonly string[];
} {
  const names = known.get(route) ?? {
    path: pathNames(route),
    query: Object.keys(route.query?.describe()['keys'] ?? {}),
    body: Object.keys(route.body?.describe()['keys'] ?? {}),
  };
  known.set(route, names);
  return names;
}

const known = new WeakMap<Route, ReturnType<typeof fieldNames>>();

/** A field unknown to the route counts as a body field, or as a query parameter if there is no body. */
function partsOf(fields: Fields, spaceId: unknown, route: Route): CallParts {
  const { path, query: queryNames } = fieldNames(route);
  const params: Record<string, unknown> = { spaceId };
  for (const name of path) params[name] = undefined;
  // Without a prototype, so that a field `__proto__` is one like any other, which is then refused.
  const query: Record<string, unknown> = Object.create(null);
  const body: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(fields)) {
    if (path.includes(name)) params[name] = value;
    else if (route.method !== 'GET' && !queryNames.includes(name)) body[name] = value;
    // In a query everything is text, and null means absent.
    else if (value !== null) query[name] = isScalar(value) ? String(value) : value;
  }
  return { params, query, body };
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';
