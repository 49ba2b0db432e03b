import { randomUUID } from 'node:crypto';
import type { CallContext, Calls } from '../http/call.ts';
import { callArgs } from '../http/call-args.ts';
import type { Context, Sent, Service } from '../http/context.ts';
import { readNote, refusalOf } from '../http/envelope.ts';
import { invalid } from '../http/errors.ts';
import { isUuid } from '../http/fields.ts';
import { isObject } from '../http/request.ts';
import type { Permission } from '../http/route.ts';
import { list } from '../org/kinds.ts';
import { version } from '../package.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Desk, Outcome } from './protocol.ts';
import type { Listed, Tool } from './tools.ts';

/** Of a list of messages: as many as the SDK takes. */
const maxMessages = 100;

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

interface VisitParts {
  readonly service: Service;
  readonly calls: Calls;
  readonly tools: ReadonlyMap<string, Listed>;
  readonly context: CallContext;
  readonly state: Context['state'];
}

/** One request. */
export class Visit {
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
      ...callArgs,
      apiKeyDigest: caller.apiKeyDigest,
      // No space has an id of another form.
      spaceId: isUuid(spaceId) ? spaceId.toLowerCase() : '',
      rateClass: 'ordinary',
      callName: 'mcp',
      requestId,
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
    if (isAlone) state.log = state.log.child({ call: route.call });
    const fallback = route.idempotency === 'required' ? randomUUID() : undefined;
    try {
      const call = { fields, idempotencyKey: idempotencyKey ?? fallback };
      const { text = 'null', headers } = await calls.run(endpoint, call, context);
      this.#admitted(headers);
      return { isError: false, text };
    } catch (thrown) {
      if (isAlone && refusesAnyCall(thrown)) throw thrown;
      const { code, answer } = refusalOf(thrown, service, {
        requestId: context.requestId,
        route: endpoint.pattern,
        log,
      });
      const { 'Retry-After': retryAfter, ...headers } = answer.headers;
      this.#admitted(headers);
      if (isAlone) state.code = code;
      const text = retryAfter === undefined ? answer.text : `${answer.text.slice(0, -1)},"retryAfter":${retryAfter}}`;
      return { isError: true, text };
    }
  }

  #admitted(headers: Readonly<Record<string, string>>): void {
    this.#isAdmitted = true;
    this.#headers = headers;
  }
}
