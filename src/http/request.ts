import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type Joi from 'joi';
import { apiKeyDigest } from './api-key.ts';
import type { Context } from './context.ts';
import { ApiError, apiError, invalid, invalidApiKey } from './errors.ts';
import { isUuid } from './fields.ts';
import { cut, TooDeep } from './json.ts';
import { plainTest } from './plain.ts';
import type { Input, Route } from './route.ts';
import type { Turn } from './turns.ts';

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

/** What is asked of an endpoint: by a request, or by a call of a batch. */
export interface Asked {
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** The path parameters, as sent. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly querystring: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** The body's text; '' where none was sent. */
  readonly text: string;
  /** What the text says. */
  readonly fields: unknown;
  /** What mistakes in the fields are told with. */
  readonly from: Origin;
  /** Undefined: none; anything but a text is refused. */
  readonly idempotencyKey: unknown;
  /** The key is made of that of a batch, and may be longer. */
  readonly hasDerivedKey?: boolean;
  /** What only the same request again has: method, path and body. */
  readonly identity: string;
  /** Of a call of a batch: when it is its turn. */
  readonly turn?: Turn;
  /** The caller may give up and keep its connection, so that `gone` never tells. */
  readonly leavesUnseen?: boolean;
  /** Aborts when the caller has gone. */
  gone(): AbortSignal;
}

/** A request of its own. */
export class Request implements Asked {
  readonly #ctx: Context;
  readonly params: Readonly<Record<string, string>>;
  readonly text: string;
  readonly from = body;

  constructor(ctx: Context, params: Readonly<Record<string, string>>) {
    this.#ctx = ctx;
    this.params = params;
    this.text = rawBody(ctx);
  }

  get requestId(): string {
    return this.#ctx.state.requestId;
  }

  get headers(): IncomingHttpHeaders {
    return this.#ctx.req.headers;
  }

  get querystring(): string {
    return this.#ctx.querystring;
  }

  get query(): Readonly<Record<string, unknown>> {
    return this.#ctx.query;
  }

  get fields(): unknown {
    return this.text === '' ? {} : this.#ctx.request.body;
  }

  get idempotencyKey(): unknown {
    return this.headers['idempotency-key'];
  }

  get identity(): string {
    return `${this.#ctx.req.method} ${this.#ctx.req.url}\n${this.text}`;
  }

  gone(): AbortSignal {
    const { req, res } = this.#ctx;
    const controller = new AbortController();
    if (res.closed || req.socket.destroyed) controller.abort();
    else res.once('close', () => controller.abort());
    return controller.signal;
  }
}

/** Throws IDEMPOTENCY_KEY_INVALID. */
export function checkIdempotencyKey(key: unknown, from: Origin): void {
  if (typeof key !== 'string' || !visibleAscii.test(key)) throw ofKey(apiError('IDEMPOTENCY_KEY_INVALID'), from);
}

/** The error with the name that the key has there. */
const ofKey = ({ status, code, message }: ApiError, { key }: Origin): ApiError =>
  new ApiError(status, code, message.replace('the header Idempotency-Key', key));

/** Sets the script's idempotency arguments from the key, if the route uses it. Throws IDEMPOTENCY_KEY_*. */
export function readIdempotency(asked: Asked, route: Route, args: Record<string, string | number>): void {
  const key = asked.idempotencyKey;
  if (key === undefined || route.idempotency === 'never') {
    if (route.idempotency === 'required') throw ofKey(apiError('IDEMPOTENCY_KEY_REQUIRED'), asked.from);
    return;
  }
  if (!asked.hasDerivedKey) checkIdempotencyKey(key, asked.from);
  args['idempotencyDigest'] = digest(String(key), 22);
  args['fingerprint'] = digest(asked.identity, 10);
}

/** Reads path, query and body by the route's schemas. Throws VALIDATION_FAILED for the first invalid field. */
export function readInput(asked: Asked, route: Route): Input {
  const lower: Record<string, string> = {};
  for (const name in asked.params) lower[name] = readParam(asked, name);
  return {
    params: lower,
    query: readQuery(asked, route.query),
    body: readFields(asked, route),
    headers: asked.headers,
  };
}

/** A path parameter, lower-cased. */
export function readParam({ params, from }: Pick<Asked, 'params' | 'from'>, name: string): string {
  const value = params[name];
  if (typeof value === 'string' && isUuid(value)) return value.toLowerCase();
  const isMissing = value === undefined ? ' is missing: it' : '';
  throw invalid(`${name}${isMissing || from.path} must be a uuid, like 0190a1b2-0000-7000-8000-000000000000`);
}

function readQuery(asked: Asked, schema: Joi.ObjectSchema | undefined): unknown {
  const from = asked.from === body ? query : asked.from;
  // Also empty after a trailing question mark.
  if (asked.querystring === '') return schema ? check(schema, {}, from) : {};
  if (schema) return check(schema, asked.query, from);
  throw unknown([Object.keys(asked.query)[0] ?? asked.querystring], from);
}

function readFields(asked: Asked, route: Route): unknown {
  if (route.method === 'GET') return {};
  const { text, from } = asked;
  const fields = objectOf(asked.fields);
  const opaque = cutFrom(text, route.opaque);
  if (!route.body) {
    const [field] = Object.keys(fields);
    if (field !== undefined) throw unknown([field], from);
    return {};
  }
  if (opaque !== undefined && route.opaque) put(fields, route.opaque, opaque);
  return check(route.body, fields, from);
}

/** A body that must be an object. Throws VALIDATION_FAILED. */
export function objectOf(body: unknown): Record<string, unknown> {
  if (!isObject(body) || Array.isArray(body)) throw invalid('the body must be a JSON object');
  return body;
}

/** The text of a member of the body (`cut`). Throws VALIDATION_FAILED for a body that nests too deeply, with or without it. */
export function cutFrom(text: string, wanted: readonly string[] | undefined): string | undefined {
  try {
    return cut(text, wanted);
  } catch (error) {
    throw error instanceof TooDeep ? invalid('the body nests deeper than 512 levels') : error;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

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

/** The place of fields: what messages call them, and the prefix of messages. */
export interface Origin {
  readonly kind: string;
  readonly prefix: string;
  /** Behind the name of a path parameter. */
  readonly path: string;
  /** The name of the key for idempotency. */
  readonly key: string;
}

const key = 'the header Idempotency-Key';
const query: Origin = { kind: 'a query parameter', prefix: 'query parameter ', path: '', key };
const body: Origin = { kind: 'a field of the body', prefix: '', path: ' in the path', key };

function unknown(path: readonly (string | number)[], { kind }: Origin, schema?: Joi.ObjectSchema): ApiError {
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

function check(schema: Joi.ObjectSchema, value: object, from: Origin): unknown {
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
