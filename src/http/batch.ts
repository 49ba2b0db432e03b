import Joi from 'joi';
import type { Logger } from 'pino';
import { Raw } from '../declare/raw.ts';
import { admitted } from './admit.ts';
import { callArgs } from './call-args.ts';
import type { Context, Sent, Service } from './context.ts';
import type { Endpoint, Handler } from './endpoint.ts';
import { readNote, refusalOf } from './envelope.ts';
import { ApiError, apiError, invalid } from './errors.ts';
import { fields, says } from './fields.ts';
import { elements, stringify } from './json.ts';
import {
  type Asked,
  type Caller,
  checkIdempotencyKey,
  isObject,
  type Origin,
  objectOf,
  Request,
  readCaller,
  readParam,
} from './request.ts';
import { defaultMaxBodyBytes, pathNames, type Route, route } from './route.ts';
import { Turns } from './turns.ts';

const maxCalls = 100;
const maxBodyBytes = 2 * 1024 * 1024;

/** What the fields of a call come from. */
const from: Origin = { kind: 'a field', prefix: '', path: '', key: 'idempotencyKey' };
const callRule =
  'call must be the name of a POST, PUT, PATCH or DELETE of /openapi.json, like message.send; those of destinations and batch itself have requests of their own';
const neverAborts = new AbortController().signal;

export const batchCall = 'batch';

/** Whether a batch may call it: what looks at the network has a request of its own. */
export const isBatched = ({ method, call, script }: Route): boolean =>
  method !== 'GET' && call !== batchCall && !script.startsWith('webhook/');

/** Many calls in one request. `Batch` answers it. */
export const batchRoute: Route = route({
  method: 'POST',
  path: '/batch',
  call: batchCall,
  summary: 'Many calls in one request, in order: each is what its own request would be, done or refused by itself',
  description:
    'At most 100 calls and 2 MiB. The answer is 200 whatever became of them: look at each `status`. A call that is ' +
    'refused neither stops the others nor undoes them.',
  permission: 'none',
  idempotency: 'calls',
  rate: 'held',
  body: fields({
    calls: Joi.array()
      .description('the calls, in the order in which they are made')
      .items(Joi.object().unknown(true).meta({ component: 'Call' }))
      .min(1)
      .max(maxCalls)
      .error(says(`must be a list of 1 to ${maxCalls} calls`)),
  }),
  maxBodyBytes,
  success: {
    200: fields({
      results: Joi.array()
        .description('the answers, in the order of the calls')
        .items(
          fields({
            status: Joi.number().integer().min(200).max(599).description('the HTTP status of the call'),
            body: Joi.any().allow(null).description('the answer of the call; null where that has no content'),
            replayed: Joi.boolean().description('whether this is the answer of an earlier call with the same key'),
            retryAfter: Joi.number()
              .integer()
              .min(0)
              .optional()
              .description('the seconds after which to try again; of a 429 only')
              .example(null),
          }),
        )
        .min(1)
        .max(maxCalls),
    }),
  },
  refuses: [],
  script: 'space/admit',
  reply: {},
});

interface Result {
  readonly status: number;
  readonly text: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly code?: string;
}

/** Hands the calls of a batch to their endpoints, which know nothing of it but whose turn it is. */
export class Batch implements Handler {
  readonly route: Route;
  readonly pattern: string;
  readonly log: Logger;
  readonly #service: Service;
  readonly #endpoints: ReadonlyMap<string, Endpoint>;

  constructor(route: Route, pattern: string, service: Service, endpoints: ReadonlyMap<string, Endpoint>) {
    this.route = route;
    this.pattern = pattern;
    this.log = service.log.child({ route: pattern, script: route.script });
    this.#service = service;
    this.#endpoints = endpoints;
  }

  async handle(ctx: Context, params: Record<string, string>): Promise<Sent> {
    const caller = readCaller(ctx.req.headers.authorization);
    const request = new Request(ctx, params);
    let calls: readonly Call[];
    try {
      calls = callsOf(request);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw await admitted(error, params['spaceId'], (spaceId) => this.#admit(caller, request, spaceId));
    }
    const [note] = await this.#admit(caller, request, readParam(request, 'spaceId'));
    const turns = new Turns(this.#service.scripts);
    const results = await Promise.all(calls.map((call) => this.#result(caller, call, turns)));
    const refused: Record<string, number> = {};
    for (const { code } of results) if (code !== undefined) refused[code] = (refused[code] ?? 0) + 1;
    ctx.state.calls = calls.length;
    if (Object.keys(refused).length > 0) ctx.state.refused = refused;
    return { status: 200, headers: ratesOf([readNote(String(note)), ...results]), text: textOf(results) };
  }

  /** Whether the caller may enter the space: nothing is counted. */
  #admit({ org, apiKeyDigest }: Caller, { requestId }: Asked, spaceId: string) {
    return this.#service.scripts.run('space/admit', org, {
      ...callArgs,
      apiKeyDigest,
      spaceId,
      callName: batchCall,
      requestId,
    });
  }

  async #result(caller: Caller, call: Call, turns: Turns): Promise<Result> {
    const { name, request } = call;
    const found = typeof name === 'string' ? this.#endpoints.get(name) : undefined;
    const endpoint = found && isBatched(found.route) ? found : undefined;
    const turn = turns.next();
    try {
      if (call.isTooLarge) throw apiError('PAYLOAD_TOO_LARGE');
      if (!endpoint)
        throw invalid(name === undefined ? callRule.replace('must be', 'is missing: it must be') : callRule);
      const { status, headers, text } = await endpoint.call(caller, { ...call.asked(endpoint.route), turn });
      return { status, headers, text };
    } catch (thrown) {
      const { requestId } = request;
      const { pattern: route, log } = endpoint ?? this;
      const { code, answer } = refusalOf(thrown, this.#service, { requestId, route, log });
      return { ...answer, code };
    } finally {
      turn.end();
    }
  }
}

/** One of the calls of a batch. */
class Call {
  readonly request: Asked;
  readonly name: unknown;
  readonly #index: number;
  readonly #text: string;
  readonly #fields: Record<string, unknown>;

  constructor(request: Asked, index: number, given: Record<string, unknown>, text: string) {
    const { call, ...fields } = given;
    this.request = request;
    this.name = call;
    this.#index = index;
    this.#text = text;
    this.#fields = fields;
  }

  /** It would be too large for a request of its own. */
  get isTooLarge(): boolean {
    return Buffer.byteLength(this.#text) > defaultMaxBodyBytes;
  }

  /** What its own request would ask of the endpoint. */
  asked(route: Route): Asked {
    const { requestId, headers, params: outer, idempotencyKey: outerKey } = this.request;
    const { idempotencyKey, ...fields } = this.#fields;
    const params: Record<string, unknown> = { spaceId: outer['spaceId'] };
    for (const name of pathNames(route)) {
      params[name] = Object.hasOwn(fields, name) ? fields[name] : undefined;
      delete fields[name];
    }
    const derived = outerKey === undefined ? undefined : `${outerKey}:${this.#index}`;
    return {
      requestId,
      headers,
      params,
      querystring: '',
      query: {},
      text: this.#text,
      fields,
      from,
      idempotencyKey: idempotencyKey ?? derived,
      hasDerivedKey: (idempotencyKey ?? undefined) === undefined,
      // No request of its own has this.
      identity: `batch\n${this.#text}`,
      gone: () => neverAborts,
    };
  }
}

/** Reads the calls of a batch. Throws what refuses it as a whole. */
function callsOf(request: Asked): Call[] {
  readParam(request, 'spaceId');
  const { text, idempotencyKey } = request;
  const fields = objectOf(request.fields);
  const other = Object.keys(fields).find((name) => name !== 'calls');
  if (other !== undefined) throw invalid(`${other} is not a field of the body of this request, which takes calls`);
  const { calls } = fields;
  if (!Array.isArray(calls) || calls.length < 1 || calls.length > maxCalls) {
    const isMissing = calls === undefined ? ' is missing: it' : '';
    throw invalid(`calls${isMissing} must be a list of 1 to ${maxCalls} calls`);
  }
  if (idempotencyKey !== undefined) checkIdempotencyKey(idempotencyKey, request.from);
  const texts = elements(text, 'calls');
  return calls.map((call: unknown, index) => {
    if (!isObject(call) || Array.isArray(call))
      throw invalid(`calls[${index}] must be an object, like {"call":"message.send", …}`);
    return new Call(request, index, call, texts[index] ?? '');
  });
}

function textOf(results: readonly Result[]): string {
  return stringify({
    results: results.map(({ status, text, headers }) => ({
      status,
      body: text === undefined ? null : new Raw(text),
      replayed: headers['Idempotent-Replayed'] !== undefined,
      ...(status === 429 && { retryAfter: Number(headers['Retry-After']) }),
    })),
  });
}

/** What the last call has left of the rates. */
function ratesOf(results: readonly Pick<Result, 'headers'>[]): Record<string, string> {
  const { headers = {} } = results.findLast((result) => 'RateLimit' in result.headers) ?? {};
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('RateLimit')));
}
