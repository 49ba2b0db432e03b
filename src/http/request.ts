import { hash } from 'node:crypto';
import type Joi from 'joi';
import type { Context } from 'koa';
import { apiKeyDigest } from './api-key.ts';
import { ApiError, apiError, invalid, invalidApiKey } from './errors.ts';
import { isUuid } from './fields.ts';
import { cut, TooDeep } from './json.ts';
import { plainTest } from './plain.ts';
import type { Input, Route } from './route.ts';

const bearer = /^bearer +(mk_([a-z0-9-]{3,40})_[0-9A-Za-z]{43,200})$/i;
const visibleAscii = /^[\x21-\x7e]{1,255}$/;

export interface Caller {
  readonly org: string;
  /** SHA-256 of the API key, base64url: the only form in which it goes on. */
  readonly apiKeyDigest: string;
}

/** Who calls. Throws UNAUTHENTICATED or INVALID_API_KEY; whether the key exists, the script says. */
export function readCaller(authorization: string | undefined): Caller {
  if (authorization === undefined) throw apiError('UNAUTHENTICATED', '', { 'WWW-Authenticate': 'Bearer' });
  const [, apiKey, org] = bearer.exec(authorization) ?? [];
  if (apiKey === undefined || org === undefined) throw invalidApiKey();
  return { org, apiKeyDigest: apiKeyDigest(apiKey) };
}

/**
 * The first characters of a SHA-256, of 6 bits each. Keys are told apart by 132 bits, for whoever calls in the space chooses
 * them. Of requests with the same key 60 say whether they are the same: who tries to make two alike only gets the answer
 * to another request of their own.
 */
function digest(text: string, characters: number): string {
  return hash('sha256', text, 'base64url').slice(0, characters);
}

/** Sets the script's idempotency arguments where the header is there and counts. Throws IDEMPOTENCY_KEY_*. */
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

/** Path, query and body by the route's schemas. Throws the first thing that is wrong, by field. */
export function readInput(ctx: Context, route: Route, params: Record<string, string>): Input {
  const lower: Record<string, string> = {};
  for (const name in params) {
    const value = params[name] ?? '';
    if (!isUuid(value)) throw invalid(`${name} in the path must be a uuid, like 0190a1b2-0000-7000-8000-000000000000`);
    lower[name] = value.toLowerCase();
  }
  return { params: lower, query: readQuery(ctx, route.query), body: readBody(ctx, route), headers: ctx.req.headers };
}

function readQuery(ctx: Context, schema: Joi.ObjectSchema | undefined): unknown {
  // A question mark at the end has no parameters behind it.
  if (ctx.querystring === '') return schema ? check(schema, {}, 'query parameter ') : {};
  if (schema) return check(schema, ctx.query, 'query parameter ');
  throw invalid(
    `${Object.keys(ctx.query)[0] ?? ctx.querystring} is not a query parameter of this request: it takes none`,
  );
}

function readBody(ctx: Context, route: Route): unknown {
  if (route.method === 'GET') return {};
  const text = rawBody(ctx);
  const body: unknown = text === '' ? {} : (ctx.request as { body?: unknown }).body;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalid('the body must be a JSON object');
  let opaque: string | undefined;
  try {
    opaque = cut(text, route.opaque);
  } catch (error) {
    if (error instanceof TooDeep) throw invalid('the body nests deeper than 512 levels');
    throw error;
  }
  if (!route.body) {
    const [field] = Object.keys(body);
    if (field !== undefined) throw invalid(`${field} is not a field of this request: its body must be empty or {}`);
    return {};
  }
  if (opaque !== undefined && route.opaque) put(body as Record<string, unknown>, route.opaque, opaque);
  return check(route.body, body, '');
}

/** The body's text; '' where none was sent (koa-bodyparser leaves it unset then). */
function rawBody(ctx: Context): string {
  const { rawBody: text } = ctx.request as { rawBody?: unknown };
  return typeof text === 'string' ? text : '';
}

/** Puts the text in the parsed value's place. The path exists: `cut` has just found it. */
function put(body: Record<string, unknown>, path: readonly string[], text: string): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) body[name] = text;
  else put(body[name] as Record<string, unknown>, rest, text);
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

function check(schema: Joi.ObjectSchema, value: object, prefix: string): unknown {
  if (isPlain(schema, value)) return value;
  if (namesPrototype(value)) throw invalid(`${prefix}__proto__ is not a field of this request`);
  const result = schema.validate(value);
  if (result.error) throw new ApiError(400, 'VALIDATION_FAILED', prefix + result.error.message);
  return result.value;
}

/** Joi copies an own member of this name as the copy's prototype, whose members nobody has checked. */
function namesPrototype(value: object): boolean {
  if (Object.hasOwn(value, '__proto__')) return true;
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null && namesPrototype(member)) return true;
  }
  return false;
}
