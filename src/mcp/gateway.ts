import { randomUUID } from 'node:crypto';
import type { CallContext, Calls } from '../http/call.ts';
import type { Context, Handler, Sent, Service } from '../http/context.ts';
import { envelope, failureOf, readNote } from '../http/envelope.ts';
import { apiError, type ErrorTable, entry, invalid } from '../http/errors.ts';
import { isUuid } from '../http/fields.ts';
import { cut, TooDeep } from '../http/json.ts';
import { isObject, readCaller, signalOf } from '../http/request.ts';
import type { Permission } from '../http/route.ts';
import { version } from '../metrics/metrics.ts';
import { list } from '../org/kinds.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Desk, Outcome } from './protocol.ts';
import { type Listed, type Tool, toolsOf } from './tools.ts';

/** What is refused before the protocol is spoken, beyond the errors of every request. */
export const mcpErrors: ErrorTable = {
  ORIGIN_NOT_ALLOWED: entry(403, 'the Origin must be that of this server: web pages of other hosts may not call it'),
  NOT_ACCEPTABLE: entry(406, 'answers are JSON: send "Accept: application/json, text/event-stream"'),
};

const pattern = '/v1/spaces/:spaceId/mcp';
const grants = { script: 'space/grants', reply: { permissions: list<Permission>() } };

/** What would refuse the caller whatever it called: answered as HTTP, where clients and proxies know what it means. */
const ofAnyCall: ReadonlySet<string> = new Set([
  'INVALID_API_KEY',
  'SPACE_NOT_FOUND',
  'RATE_LIMITED',
  'SERVICE_RATE_LIMITED',
]);

function refusesAnyCall(thrown: unknown): boolean {
  if (!(thrown instanceof Refusal)) return thrown instanceof StoreUnavailable;
  return ofAnyCall.has(thrown.code) || (thrown.code === 'PERMISSION_DENIED' && thrown.detail === 'space');
}

/** `POST /v1/spaces/{spaceId}/mcp`: the Model Context Protocol, streamable HTTP, stateless, answered as JSON. */
export function mcpGateway(service: Service, calls: Calls): Handler {
  const tools = toolsOf(service.routes);
  const log = service.log.child({ route: pattern });
  return {
    pattern,
    log,
    handle: async (ctx, { spaceId = '' }) => {
      checkOrigin(ctx);
      if (!ctx.accepts('application/json')) throw apiError('NOT_ACCEPTABLE', '', {}, mcpErrors);
      const caller = readCaller(ctx.req.headers.authorization);
      const { body } = ctx.request;
      checkBody(ctx);
      const context = { caller, requestId: ctx.state.requestId, spaceId, gone: signalOf(ctx) };
      const visit = new Visit({ service, calls, tools, context, state: ctx.state });
      return Array.isArray(body) ? visit.answerAll(body, headersOf(ctx)) : visit.answerOne(body, headersOf(ctx));
    },
  };
}

/** Of another host, a browser sends what its page wants, perhaps to a name that was made to point here (DNS rebinding). */
function checkOrigin({ req: { headers } }: Context): void {
  const { origin, host } = headers;
  if (origin === undefined) return;
  const [scheme = ''] = origin.split('//', 1);
  const from = hostOf(origin);
  if (from === undefined || from !== hostOf(`${scheme}//${host ?? ''}`))
    throw apiError('ORIGIN_NOT_ALLOWED', '', {}, mcpErrors);
}

/** Lower-cased, without the port that the scheme has anyway. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host || undefined : undefined;
}

/** Throws for an empty body, and for one that nests deeper than any other request may. */
function checkBody({ request: { rawBody } }: Context): void {
  if (typeof rawBody !== 'string' || rawBody === '') throw apiError('MALFORMED_JSON');
  try {
    cut(rawBody, undefined);
  } catch (error) {
    throw error instanceof TooDeep ? invalid('the body nests deeper than 512 levels') : error;
  }
}

/** The headers of the protocol. */
function headersOf({ req: { headers } }: Context): Record<string, string> {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('mcp-'));
  return Object.fromEntries(own.map(([name, value]) => [name, String(value)]));
}

interface VisitParts {
  readonly service: Service;
  readonly calls: Calls;
  readonly tools: ReadonlyMap<string, Listed>;
  readonly context: CallContext;
  readonly state: Context['state'];
}

/** One request. */
class Visit {
  readonly #parts: VisitParts;
  #headers: Readonly<Record<string, string>> = {};
  #permissions: readonly string[] | undefined;
  /** A call has come as far as to its script, which has checked and counted the request. */
  #isAdmitted = false;
  /** What refuses the request. */
  #refusal: unknown;

  constructor(parts: VisitParts) {
    this.#parts = parts;
  }

  /** A tool call counts as the call that it makes; every other message as a read. */
  async answerOne(message: unknown, headers: Record<string, string>): Promise<Sent> {
    const isCall = isObject(message) && message['method'] === 'tools/call' && isUuid(this.#parts.context.spaceId);
    if (!isCall) await this.#admit();
    const { status, text } = await this.#speak(message, headers, (name, args) => this.#callAlone(name, args));
    if (this.#refusal !== undefined) throw this.#refusal;
    if (!this.#isAdmitted) await this.#admit();
    return { status, headers: this.#headers, text };
  }

  /** The batches of 2025-03-26: each message by itself, none of which is the whole request. */
  async answerAll(messages: readonly unknown[], headers: Record<string, string>): Promise<Sent> {
    await this.#admit();
    if (messages.length === 0 || messages.length > maxMessages)
      throw invalid(`the body must be one message, or a list of 1 to ${maxMessages}`);
    const answers = messages.map((message) => this.#speak(message, headers, (name, args) => this.#call(name, args)));
    const texts = (await Promise.all(answers)).flatMap(({ text }) => text ?? []);
    const hasAnswers = texts.length > 0;
    return {
      status: hasAnswers ? 200 : 202,
      headers: this.#headers,
      text: hasAnswers ? `[${texts.join(',')}]` : undefined,
    };
  }

  async #speak(message: unknown, headers: Record<string, string>, call: Desk['call']) {
    // Loaded at the first request: the SDK takes a quarter of a second and 25 MB.
    const { answer } = await import('./protocol.ts');
    return answer(message, headers, { version, tools: () => this.#tools(), call });
  }

  /** Checks key, space and rates, and finds out what the key may do. */
  async #admit(): Promise<void> {
    const { scripts } = this.#parts.service;
    const { caller, spaceId, requestId } = this.#parts.context;
    const [note, ...values] = await scripts.run(grants.script, caller.org, {
      apiKeyDigest: caller.apiKeyDigest,
      permission: '',
      // No space has an id of another form.
      spaceId: isUuid(spaceId) ? spaceId.toLowerCase() : '',
      rateClass: 'ordinary',
      callName: 'mcp',
      idempotencyDigest: '',
      fingerprint: '',
      requestId,
      drainedThrough: '',
    });
    this.#permissions = scripts.reader(grants)(values)?.permissions ?? [];
    this.#headers = readNote(String(note)).headers;
    this.#isAdmitted = true;
  }

  #tools(): Tool[] {
    const all = [...this.#parts.tools.values()];
    return all.filter(({ permission }) => this.#permissions?.includes(permission)).map(({ tool }) => tool);
  }

  /** The only call of the request: what refuses any call refuses the request. */
  async #callAlone(name: string, args: Readonly<Record<string, unknown>>): Promise<Outcome | undefined> {
    try {
      return await this.#call(name, args, true);
    } catch (thrown) {
      this.#refusal = thrown;
      throw thrown;
    }
  }

  /** Undefined: there is no such tool. */
  async #call(
    name: string,
    { idempotencyKey, ...fields }: Readonly<Record<string, unknown>>,
    isAlone = false,
  ): Promise<Outcome | undefined> {
    const { service, calls, tools, context, state } = this.#parts;
    const listed = tools.get(name);
    const endpoint = listed && calls.endpoints.get(listed.call);
    if (!endpoint) return undefined;
    const { route, log } = endpoint;
    state.log = state.log.child({ call: route.call });
    const made = route.idempotency === 'required' ? randomUUID() : undefined;
    try {
      const call = { fields, text: JSON.stringify(fields), idempotencyKey: idempotencyKey ?? made };
      const { text = 'null', headers } = await calls.run(endpoint, call, context);
      this.#admitted(headers);
      return { isError: false, text };
    } catch (thrown) {
      if (isAlone && refusesAnyCall(thrown)) throw thrown;
      const error = failureOf(thrown, service, { route: endpoint.pattern, requestId: context.requestId, log });
      const { 'Retry-After': retryAfter, ...headers } = error.headers;
      this.#admitted(headers);
      state.code = error.code;
      const refused = envelope(error, context.requestId);
      return {
        isError: true,
        text: retryAfter === undefined ? refused : `${refused.slice(0, -1)},"retryAfter":${retryAfter}}`,
      };
    }
  }

  #admitted(headers: Readonly<Record<string, string>>): void {
    this.#isAdmitted = true;
    this.#headers = headers;
  }
}

/** As many as the SDK takes. */
const maxMessages = 100;
