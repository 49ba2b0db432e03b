import { hash } from 'node:crypto';
import type Joi from 'joi';
import { apiKeyDigest } from './api-key.ts';
import type { Context } from './context.ts';
import { type ApiError, apiError, invalid, invalidApiKey } from './errors.ts';
import { isUuid } from './fields.ts';
import { cut, TooDeep } from './json.ts';
import { plainTest } from './plain.ts';
import type { Input, Route } from './route.ts';

const bearer = /^bearer +(mk_([a-z0-9-]{3,40})_[0-9A-Za-z]{43,200})$/i;
const visibleAscii = /^[\x21-\x7e]{1,255}$/;

export interface Caller {
  readonly org: string;
  /** SHA-256 of the API key, base64url: the only form in which it is passed on. */
  readonly apiKeyDigest: string;
}

/** Reads the API key. Throws UNAUTHENTICATED or INVALID_API_KEY; the script checks that the key exists. */
export function readCaller(authorization: string | undefined): Caller {
  if (authorization === undefined) throw apiError('UNAUTHENTICATED', '', { 'WWW-Authenticate': 'Bearer' });
  const [, apiKey, org] = bearer.exec(authorization) ?? [];
  if (apiKey === undefined || org === undefined) throw invalidApiKey();
  return { org, apiKeyDigest: apiKeyDigest(apiKey) };
}

/**
 * The first characters of a SHA-256, 6 bits each. Idempotency keys get 132 bits, because callers choose them. A fingerprint
 * gets 60: whoever makes two of their own requests collide only gets the answer to the other one.
 */
function digest(text: string, characters: number): string {
  return hash('sha256', text, 'base64url').slice(0, characters);
}

/** Sets the script's idempotency arguments from the header, if the route uses it. Throws IDEMPOTENCY_KEY_*. */
export function readIdempotency(ctx: Context, route: Route, args: Record<string, string | number>): void {
  const header = ctx.req.headers['idempotency-key'];
  if (header === undefined || route.idempotency === 'never') {
    if (route.idempotency === 'required') throw apiError('IDEMPOTENCY_KEY_REQUIRED');
    return;
  }
  if (typeof header !== 'string' || !visibleAscii.test(header)) throw apiError('IDEMPOTENCY_KEY_INVALID');
  args['idempotencyDigest'] = digest(header, 22);
  args['fingerprint'] = digest(`${ctx.req.method} ${ctx.req.url}\n${rawBody(ctx)}`, 10);
}

/** Reads path, query and body by the route's schemas. Throws VALIDATION_FAILED for the first invalid field. */
export function readInput(ctx: Context, route: Route, params: Record<string, string>): Input {
  const lower: Record<string, string> = {};
  for (const name in params) {
    const value = params[name] ?? '';
    if (!isUuid(value)) throw invalid(`${name} in the path must be a uuid, like 0190a1b2-0000-7000-8000-000000000000`);
    lower[name] = value.toLowerCase();
  }
  return { params: lower, query: readQuery(ctx, route.query), body: readFields(ctx, route), headers: ctx.req.headers };
}

function readQuery(ctx: Context, schema: Joi.ObjectSchema | undefined): unknown {
  // Also empty after a trailing question mark.
  if (ctx.querystring === '') return schema ? check(schema, {}, query) : {};
  if (schema) return check(schema, ctx.query, query);
  throw unknown([Object.keys(ctx.query)[0] ?? ctx.querystring], query);
}

function readFields(ctx: Context, route: Route): unknown {
  if (route.method === 'GET') return {};
  const text = rawBody(ctx);
  const fields: unknown = text === '' ? {} : ctx.request.body;
  if (!isObject(fields) || Array.isArray(fields)) throw invalid('the body must be a JSON object');
  let opaque: string | undefined;
  try {
    opaque = cut(text, route.opaque);
  } catch (error) {
    if (error instanceof TooDeep) throw invalid('the body nests deeper than 512 levels');
    throw error;
  }
  if (!route.body) {
    const [field] = Object.keys(fields);
    if (field !== undefined) throw unknown([field], body);
    return {};
  }
  if (opaque !== undefined && route.opaque) put(fields, route.opaque, opaque);
  return check(route.body, fields, body);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

/** The body's text; '' for none. */
function rawBody(ctx: Context): string {
  const { rawBody: text } = ctx.request;
  return typeof text === 'string' ? text : '';
}

/** Replaces the parsed value by its text. The value exists: `cut` has just found it. */
function put(fields: Record<string, unknown>, path: readonly string[], text: string): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) fields[name] = text;
  else if (isObject(fields[name])) put(fields[name], rest, text);
}

/** The places of fields: what messages call them, and the prefix of messages. */
const query = { kind: 'a query parameter', prefix: 'query parameter ' };
const body = { kind: 'a field of the body', prefix: '' };

function unknown(path: readonly (string | number)[], { kind }: typeof query, schema?: Joi.ObjectSchema): ApiError {
  const parents = path.slice(0, -1);
  let described: Joi.Description | undefined = schema?.describe();
  for (const name of parents) described = described?.['keys']?.[name];
  const known = Object.keys(described?.['keys'] ?? {}).join(', ') || 'none';
  const place = parents.length === 0 ? kind : `a field of ${parents.join('.')} in the body`;
  return invalid(`${path.join('.')} is not ${place} of this request, which takes ${known}`);
}

const plainTests = new WeakMap<Joi.ObjectSchema, (value: object) => boolean>();

function isPlain(schema: Joi.ObjectSchema, value: object): boolean {
  let test = plainTests.get(schema);
  if (!test) {
    test = plainTest(schema);
    plainTests.set(schema, test);
  }
  return test(value);
}

function check(schema: Joi.ObjectSchema, value: object, from: typeof query): unknown {
  if (isPlain(schema, value)) return value;
  const prototype = pathToPrototype(value);
  if (prototype) throw unknown(prototype, from, schema);
  const result = schema.validate(value);
  const [problem] = result.error?.details ?? [];
  if (problem?.type === 'object.unknown') throw unknown(problem.path, from, schema);
  if (problem) throw invalid(from.prefix + problem.message);
  return result.value;
}

/** The path to a member named __proto__: Joi would make it the prototype of its copy, with unchecked members. */
function pathToPrototype(value: object): string[] | undefined {
  if (Object.hasOwn(value, '__proto__')) return ['__proto__'];
  for (const [name, member] of Object.entries(value)) {
    const below = isObject(member) ? pathToPrototype(member) : undefined;
    if (below) return [name, ...below];
  }
  return undefined;
}
