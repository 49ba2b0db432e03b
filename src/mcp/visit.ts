import { randomUUID } from 'node:crypto';
import type { BatchState } from '../batch/batch.ts';
import { callArgs } from '../call/args.ts';
import type { Call } from '../call/call.ts';
import { callerArgs, type Permission } from '../call/caller.ts';
import { isUuid } from '../call/fields.ts';
import { callFromFields } from '../call/from-fields.ts';
import { readNote } from '../call/note.ts';
import type { Operation } from '../call/operation.ts';
import { isObject } from '../call/read-input.ts';
import { refusalOf } from '../call/refusal.ts';
import type { Response } from '../call/response.ts';
import { allowedBy } from '../call/route.ts';
import { readTrace, traceIdOf } from '../call/trace.ts';
import { type Answered, flag } from '../declare/field.ts';
import type { Context } from '../http/context.ts';
import type { HttpCall } from '../http/http-call.ts';
import type { HttpService } from '../http/service.ts';
import { list } from '../org/kinds.ts';
import { version } from '../package.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import type { Desk, Outcome } from './protocol.ts';
import { checkFields, type Listed } from './tools.ts';

const eventStream = 'text/event-stream';

const grants = { script: 'space/grants', reply: { permissions: list<Permission>(), hasAllMailboxes: flag() } };

/** A refusal of the caller, whatever it calls: answered as HTTP, where clients and proxies know what it means. */
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

/** What a tool calls: an operation, or the batch of several. */
export type Callable = Pick<Operation, 'route' | 'pattern' | 'log'> & {
  answer(call: Call, state: BatchState): Promise<Response>;
};

export interface VisitParts {
  readonly service: HttpService;
  readonly operations: ReadonlyMap<string, Callable>;
  readonly tools: ReadonlyMap<string, Listed>;
  readonly request: HttpCall;
  readonly gone: AbortSignal;
  readonly state: Context['state'];
}

/** One message: a request, or one of a list. */
export class Visit {
  readonly #parts: VisitParts;
  readonly #isAlone: boolean;
  #headers: Readonly<Record<string, string>> = {};
  #granted: Answered<typeof grants.reply> | undefined;
  /** A call has come as far as to its script, which has checked and counted the request. */
  #isAdmitted = false;
  #refusal: unknown;

  /** isAlone: what refuses any call refuses the request. */
  constructor(parts: VisitParts, isAlone = true) {
    this.#parts = parts;
    this.#isAlone = isAlone;
  }

  /** A refusal of the caller, whatever it sent; undefined: none. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** A tool call counts as the call that it makes; every other message as a read. Throws what refuses any call. */
  async answer(message: unknown, headers: Readonly<Record<string, string>>): Promise<Response> {
    const isCall =
      isObject(message) && message['method'] === 'tools/call' && isUuid(String(this.#parts.request.spaceId));
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
    const { caller, requestId } = this.#parts.request;
    const spaceId = String(this.#parts.request.spaceId);
    const args = {
      ...callArgs,
      ...callerArgs(caller),
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
    this.#granted = scripts.reader(grants)(values);
    this.#admitted(readNote(String(note)).headers);
    return this.#headers;
  }

  #tools(): ReturnType<Desk['tools']> {
    const all = [...this.#parts.tools.values()];
    const { permissions = [], hasAllMailboxes = false } = this.#granted ?? {};
    const may = ({ permission, needsAllMailboxes }: Listed): boolean =>
      (permission === 'none' || allowedBy(permission).some((one) => permissions.some((granted) => granted === one))) &&
      (hasAllMailboxes || !needsAllMailboxes);
    return { tools: all.filter(may).map(({ tool }) => tool), permissions };
  }

  /** Undefined: there is no such tool. */
  readonly #call: Desk['call'] = async (
    name,
    { idempotencyKey, ...fields },
    leavesUnseen,
    meta,
  ): Promise<Outcome | undefined> => {
    const { service, operations, tools, request, gone, state } = this.#parts;
    const { caller, requestId, spaceId } = request;
    const listed = tools.get(name);
    const operation = listed && operations.get(listed.call);
    if (!operation) return undefined;
    const { route, pattern, log } = operation;
    if (this.#isAlone) state.log = state.log.child({ call: route.call });
    const ofMessage = readTrace(meta);
    const trace = ofMessage.traceparent === '' ? request.trace : ofMessage;
    if (this.#isAlone) state.traceId = traceIdOf(trace);
    const needsKey = route.idempotency === 'required' || route.idempotency === 'calls';
    const fallback = needsKey ? randomUUID() : undefined;
    try {
      const fieldsText = JSON.stringify(fields);
      const call = callFromFields(fields, {
        caller,
        requestId,
        headers: {},
        trace,
        spaceId,
        text: fieldsText,
        idempotencyKey: idempotencyKey ?? fallback,
        // No request of its own has this.
        identity: `call ${route.call}\n${fieldsText}`,
        gone: () => gone,
        leavesUnseen,
        isModel: true,
      });
      const parts: typeof call.parts = (of) => {
        checkFields(fields, of);
        return call.parts(of);
      };
      const run = () => operation.answer({ ...call, parts }, this.#isAlone ? state : {});
      const isOfMessage = ofMessage.traceparent !== '' && service.aroundMessage !== undefined;
      const { text = 'null', headers } = await (isOfMessage
        ? service.aroundMessage(ofMessage, `tools/call ${name}`, run)
        : run());
      this.#admitted(headers);
      return { isError: false, text };
    } catch (thrown) {
      if (refusesAnyCall(thrown)) {
        this.#refusal = thrown;
        if (this.#isAlone) throw thrown;
      }
      const { code, answer } = refusalOf(thrown, service, { requestId, route: pattern, log });
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
