import { randomUUID } from 'node:crypto';
import type { CallContext, Calls } from '../http/call.ts';
import { callArgs } from '../http/call-args.ts';
import type { Context, Sent, Service } from '../http/context.ts';
import { readNote, refusalOf } from '../http/envelope.ts';
import { isUuid } from '../http/fields.ts';
import { isObject } from '../http/request.ts';
import type { Permission } from '../http/route.ts';
import { list } from '../org/kinds.ts';
import { version } from '../package.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Desk, Outcome } from './protocol.ts';
import type { Listed, Tool } from './tools.ts';

const eventStream = 'text/event-stream';

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

export interface VisitParts {
  readonly service: Service;
  readonly calls: Calls;
  readonly tools: ReadonlyMap<string, Listed>;
  readonly context: Omit<CallContext, 'leavesUnseen'>;
  readonly state: Context['state'];
}

/** One message: a request, or one of a list. */
export class Visit {
  readonly #parts: VisitParts;
  readonly #isAlone: boolean;
  #headers: Readonly<Record<string, string>> = {};
  #permissions: readonly string[] | undefined;
  /** A call has come as far as to its script, which has checked and counted the request. */
  #isAdmitted = false;
  #refusal: unknown;

  /** isAlone: what refuses any call refuses the request. */
  constructor(parts: VisitParts, isAlone = true) {
    this.#parts = parts;
    this.#isAlone = isAlone;
  }

  /** What would have refused the caller whatever it sent; undefined: nothing. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** A tool call counts as the call that it makes; every other message as a read. Throws what refuses any call. */
  async answer(message: unknown, headers: Readonly<Record<string, string>>): Promise<Sent> {
    const isCall = isObject(message) && message['method'] === 'tools/call' && isUuid(this.#parts.context.spaceId);
    if (!isCall) await this.admit();
    const { status, text, type } = await this.#speak(message, headers);
    if (this.#isAlone && this.#refusal !== undefined) throw this.#refusal;
    if (!this.#isAdmitted) await this.admit();
    const stream = type === eventStream && { 'Content-Type': eventStream, 'Cache-Control': 'no-store' };
    return { status, headers: { ...this.#headers, ...stream }, text };
  }

  async #speak(message: unknown, headers: Readonly<Record<string, string>>) {
    // Loaded at the first request: the SDK takes a quarter of a second and 25 MB.
    const { answer } = await import('./protocol.ts');
    return answer(message, headers, { version, tools: () => this.#tools(), call: this.#call });
  }

  /** Checks key, space and rates, counts a read unless it is `held`, and finds out what the key may do. Resolves with the rates. */
  async admit(rateClass: 'ordinary' | 'held' = 'ordinary'): Promise<Readonly<Record<string, string>>> {
    const { scripts } = this.#parts.service;
    const { caller, spaceId, requestId } = this.#parts.context;
    const args = {
      ...callArgs,
      apiKeyDigest: caller.apiKeyDigest,
      // No space has an id of another form.
      spaceId: isUuid(spaceId) ? spaceId.toLowerCase() : '',
      rateClass,
      callName: 'mcp',
      requestId,
    };
    const [note, ...values] = await scripts.run(grants.script, caller.org, args).catch((thrown: unknown) => {
      this.#refusal = thrown;
      throw thrown;
    });
    this.#permissions = scripts.reader(grants)(values)?.permissions ?? [];
    this.#admitted(readNote(String(note)).headers);
    return this.#headers;
  }

  #tools(): Tool[] {
    const all = [...this.#parts.tools.values()];
    return all.filter(({ permission }) => this.#permissions?.includes(permission)).map(({ tool }) => tool);
  }

  /** Undefined: there is no such tool. */
  readonly #call: Desk['call'] = async (
    name,
    { idempotencyKey, ...fields },
    leavesUnseen,
  ): Promise<Outcome | undefined> => {
    const { service, calls, tools, context, state } = this.#parts;
    const listed = tools.get(name);
    const endpoint = listed && calls.endpoints.get(listed.call);
    if (!endpoint) return undefined;
    const { route, log } = endpoint;
    if (this.#isAlone) state.log = state.log.child({ call: route.call });
    const fallback = route.idempotency === 'required' ? randomUUID() : undefined;
    try {
      const call = { fields, idempotencyKey: idempotencyKey ?? fallback };
      const { text = 'null', headers } = await calls.run(endpoint, call, { ...context, leavesUnseen });
      this.#admitted(headers);
      return { isError: false, text };
    } catch (thrown) {
      if (refusesAnyCall(thrown)) {
        this.#refusal = thrown;
        if (this.#isAlone) throw thrown;
      }
      const { code, answer } = refusalOf(thrown, service, {
        requestId: context.requestId,
        route: endpoint.pattern,
        log,
      });
      const { 'Retry-After': retryAfter, ...headers } = answer.headers;
      this.#admitted(headers);
      if (this.#isAlone) state.code = code;
      const text = retryAfter === undefined ? answer.text : `${answer.text.slice(0, -1)},"retryAfter":${retryAfter}}`;
      return { isError: true, text };
    }
  };

  #admitted(headers: Readonly<Record<string, string>>): void {
    this.#isAdmitted = true;
    this.#headers = headers;
  }
}
