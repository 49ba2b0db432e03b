import type Joi from 'joi';
import { type ApiError, invalid } from '../route/errors.ts';
import { isUuid } from '../route/fields.ts';
import { cut } from '../route/json.ts';
import type { Input, Route } from '../route/route.ts';
import type { Call, CallParts, Origin } from './call.ts';
import { plainTest } from './fast-validate.ts';

/** Reads path, query and body by the route's schemas. Throws VALIDATION_FAILED for the first invalid field. */
export function readInput(call: Call, route: Route): Input {
  const { origin, headers, trace } = call;
  const given = call.parts(route);
  const params: Record<string, string> = {};
  const named = route.params && fieldNamesOf(route.params);
  for (const name in given.params)
    if (!named?.includes(name)) params[name] = readParam(given.params[name], name, origin);
  if (route.params && named) Object.assign(params, readNamed(route.params, named, given.params, origin));
  const query = readQuery(given.query, route, origin);
  return { params, query, body: readBody(given.body, call, route), headers, trace, isModel: call.isModel };
}

/** A path parameter in lower case. */
export function readParam(value: unknown, name: string, { path }: Origin): string {
  if (typeof value === 'string' && isUuid(value)) return value.toLowerCase();
  const isMissing = value === undefined ? ' is missing: it' : '';
  throw invalid(`${name}${isMissing || path} must be a uuid, like 0190a1b2-0000-7000-8000-000000000000`);
}

/** Path parameters that are not ids. */
function readNamed(schema: Joi.ObjectSchema, names: readonly string[], params: CallParts['params'], { path }: Origin) {
  const given = Object.fromEntries(names.map((name) => [name, params[name]]));
  if (isPlain(schema, given)) return given as Record<string, string>;
  const { error, value } = schema.validate(given) as { error?: Joi.ValidationError; value: Record<string, string> };
  const [problem] = error?.details ?? [];
  const name = String(problem?.path[0] ?? '');
  if (problem) throw invalid(`${name}${path}${problem.message.slice(name.length)}`);
  return value;
}

function readQuery(query: Readonly<Record<string, unknown>>, route: Route, { parameter, prefix }: Origin): unknown {
  if (route.query) return check(route.query, query, parameter, prefix);
  const [name] = Object.keys(query);
  if (name !== undefined) throw unknown([name], parameter);
  return {};
}

function readBody(body: unknown, { text, origin }: Call, route: Route): unknown {
  if (route.method === 'GET') return {};
  const fields = objectOf(body);
  const opaque = cut(text, route.opaque);
  const another = route.alsoOpaque && cut(text, route.alsoOpaque);
  if (!route.body) {
    const [name] = Object.keys(fields);
    if (name !== undefined) throw unknown([name], origin.field);
    return {};
  }
  if (opaque !== undefined && route.opaque) put(fields, route.opaque, opaque);
  if (another !== undefined && route.alsoOpaque) put(fields, route.alsoOpaque, another);
  return check(route.body, fields, origin.field, '');
}

/** A body that must be an object. Throws VALIDATION_FAILED. */
export function objectOf(body: unknown): Record<string, unknown> {
  if (!isObject(body) || Array.isArray(body)) throw invalid('the body must be a JSON object');
  return body;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** Replaces the parsed value by its text. The value exists: `cut` has just found it. */
function put(fields: Record<string, unknown>, path: readonly string[], text: string): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) fields[name] = text;
  else if (isObject(fields[name])) put(fields[name], rest, text);
}

/** kind: the word for a member in messages. */
function unknown(path: readonly (string | number)[], kind: string, schema?: Joi.ObjectSchema): ApiError {
  const parents = path.slice(0, -1);
  let described: Joi.Description | undefined = schema?.describe();
  for (const name of parents) described = described?.['keys']?.[name];
  const known = Object.keys(described?.['keys'] ?? {}).join(', ') || 'none';
  const place = parents.length === 0 ? kind : `a field of ${parents.join('.')} in the body`;
  return invalid(`${path.join('.')} is not ${place} of this request, which takes ${known}`);
}

/** Caches a value derived from a schema, as Joi describes a schema anew each time. */
function once<T>(make: (schema: Joi.ObjectSchema) => T): (schema: Joi.ObjectSchema) => T {
  const made = new WeakMap<Joi.ObjectSchema, T>();
  return (schema) => {
    let known = made.get(schema);
    if (known === undefined) {
      known = make(schema);
      made.set(schema, known);
    }
    return known;
  };
}

const fieldNamesOf = once((schema) => Object.keys(schema.describe()['keys'] ?? {}));
const plainTestOf = once(plainTest);
const isPlain = (schema: Joi.ObjectSchema, value: object): boolean => plainTestOf(schema)(value);

function check(schema: Joi.ObjectSchema, value: object, kind: string, prefix: string): unknown {
  if (isPlain(schema, value)) return value;
  const prototype = pathToPrototype(value);
  if (prototype) throw unknown(prototype, kind, schema);
  const result = schema.validate(value);
  const [problem] = result.error?.details ?? [];
  if (problem?.type === 'object.unknown') throw unknown(problem.path, kind, schema);
  if (problem) throw invalid(prefix + problem.message);
  return result.value;
}

/** The path to a member named __proto__. Joi would make it the prototype of its copy, with unchecked members. */
function pathToPrototype(value: object): string[] | undefined {
  if (Object.hasOwn(value, '__proto__')) return ['__proto__'];
  for (const [name, member] of Object.entries(value)) {
    const below = isObject(member) ? pathToPrototype(member) : undefined;
    if (below) return [name, ...below];
  }
  return undefined;
}
