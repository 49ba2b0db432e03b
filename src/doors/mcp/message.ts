import { randomUUID } from 'node:crypto';
import type { Call, Response } from '../../engine/call/call.ts';
import { callFromObject } from '../../engine/call/call-from-object.ts';
import type { Operation } from '../../engine/call/operation.ts';
import { isObject } from '../../engine/call/read-input.ts';
import { refusalOf } from '../../engine/call/refusal.ts';
import { type Answered, flag } from '../../engine/declare/field.ts';
import { readHead } from '../../engine/declare/reply.ts';
import { Refusal, StoreUnavailable } from '../../engine/redis/scripts.ts';
import { callArgs } from '../../engine/route/args.ts';
import { allowedBy, type Permission } from '../../engine/route/caller.ts';
import { apiError, invalid } from '../../engine/route/errors.ts';
import { isUuid } from '../../engine/route/fields.ts';
import { cut, mayLoseDigits } from '../../engine/route/json.ts';
import { maxLooked } from '../../engine/route/list-limits.ts';
import type { Route } from '../../engine/route/route.ts';
import { readTrace, type TraceContext, traceIdOf } from '../../engine/route/trace.ts';
import { version } from '../../package.ts';
import { list } from '../../primitives/org/kinds.ts';
import type { BatchState } from '../batch/batch.ts';
import type { Context } from '../http/context.ts';
import type { HttpCall } from '../http/http-call.ts';
import type { HttpService } from '../http/service.ts';
import { streamHeaders } from '../http/write-answer.ts';
import { briefOf, hintOf, isEmpty } from './brief.ts';
import type { McpCalls, McpOutcome } from './protocol.ts';
import { isFailure, taskMethods } from './tasks.ts';
import { checkFields, type Listed } from './tools.ts';

const grants = {
  script: 'space/grants',
  reply: { permissions: list<Permission>(), hasAllMailboxes: flag(), hasOwnName: flag() },
};

/** Refusals of the caller, whatever it calls. They are answered as HTTP errors, which clients and proxies understand. */
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

type Fields = Readonly<Record<string, unknown>>;

interface ToolRequest {
  readonly idempotencyKey: unknown;
  readonly leavesUnseen: boolean;
  readonly isDescribed: boolean;
  readonly tool: string;
  /** As sent, unless they are the same when they are printed. */
  readonly argumentsText?: string | undefined;
  /** The trace in the message. */
  readonly ofMessage: TraceContext;
}

/** `full` belongs to the tool alone. Without it, the counts cover as many records as possible. */
function asBrief(given: Fields, route: Route): { readonly fields: Fields; readonly isBrief: boolean } {
  if (!route.isBrief) return { fields: given, isBrief: false };
  const { full, ...fields } = given;
  if (typeof (full ?? false) !== 'boolean') throw invalid('full must be true or false');
  return full === true ? { fields, isBrief: false } : { fields: { limit: maxLooked, ...fields }, isBrief: true };
}

/** Requests that make a call of the API. */
const callMethods: ReadonlySet<unknown> = new Set(['tools/call', ...taskMethods]);

/** What a tool runs: an operation, or a batch of several. */
export type Callable = Pick<Operation, 'route' | 'pattern' | 'log'> & {
  answer(call: Call, state: BatchState): Promise<Response>;
};

export interface McpMessageParts {
  readonly service: HttpService;
  readonly operations: ReadonlyMap<string, Callable>;
  readonly tools: ReadonlyMap<string, Listed>;
  readonly request: HttpCall;
  readonly gone: AbortSignal;
  readonly state: Context['state'];
}

/** A message as it was received, parsed and as text. */
export interface Received {
  readonly message: unknown;
  readonly text: string;
}

/** One message: a request of its own, or one of a list. */
export class McpMessage {
  readonly #parts: McpMessageParts;
  readonly #isAlone: boolean;
  /** The text of the message, if it may have a number that would lose digits. */
  #received: string | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #granted: Answered<typeof grants.reply> | undefined;
  /** Whether a call has reached its script, which has checked and counted the request. */
  #isAdmitted = false;
  #refusal: unknown;

  /** isAlone: an error that refuses any call refuses the request. */
  constructor(parts: McpMessageParts, isAlone = true) {
    this.#parts = parts;
    this.#isAlone = isAlone;
  }

  /** The refusal of the caller, whatever it sent; undefined if there is none. */
  get refusal(): unknown {
    return this.#refusal;
  }

  /** A tool call counts as its call, any other message as a read. Throws errors that refuse any call. */
  async answer({ message, text: received }: Received, headers: Readonly<Record<string, string>>): Promise<Response> {
    if (mayLoseDigits(received)) this.#received = received;
    const isCall =
      isObject(message) && callMethods.has(message['method']) && isUuid(String(this.#parts.request.spaceId));
    // The console reads the list before anything else, so whoever may raise the limit gets it at the limit, too.
    const isList = isObject(message) && message['method'] === 'tools/list';
    if (!isCall) await this.admit(isList ? 'operator' : 'ordinary');
    const { status, text, type } = await this.#speak(message, headers);
    if (this.#isAlone && this.#refusal !== undefined) throw this.#refusal;
    if (!this.#isAdmitted) await this.admit();
    const isStream = type === streamHeaders['Content-Type'];
    return { status, headers: { ...this.#headers, ...(isStream && streamHeaders) }, text };
  }

  async #speak(message: unknown, headers: Readonly<Record<string, string>>) {
    // Loaded at the first request, as the SDK takes a quarter of a second and 25 MB.
    const { answer } = await import('./protocol.ts');
    const [call, answerQuestion] = [this.#call, this.#answerQuestion];
    return answer(message, headers, { version, tools: () => this.#tools(), call, answerQuestion });
  }

  /**
   * Checks key, space and rates, counts a read unless it is `held`, and finds the key's permissions. Resolves with the rates.
   */
  async admit(rateClass: 'ordinary' | 'operator' | 'held' = 'ordinary'): Promise<Readonly<Record<string, string>>> {
    const { scripts } = this.#parts.service;
    const { caller, requestId } = this.#parts.request;
    const spaceId = String(this.#parts.request.spaceId);
    const args = {
      ...callArgs,
      apiKeyDigest: caller.apiKeyDigest,
      // A malformed id belongs to no space.
      spaceId: isUuid(spaceId) ? spaceId.toLowerCase() : '',
      rateClass,
      callName: 'mcp',
      requestId,
    };
    const [head, ...values] = await scripts.execute(grants.script, caller.org, args).catch((thrown: unknown) => {
      this.#refusal = thrown;
      throw thrown;
    });
    this.#granted = scripts.reader(grants)(values);
    this.#admitted(readHead(String(head)).headers);
    return this.#headers;
  }

  #tools(): ReturnType<McpCalls['tools']> {
    const all = [...this.#parts.tools.values()];
    const { permissions = [], hasAllMailboxes = false, hasOwnName = false } = this.#granted ?? {};
    const may = (listed: Listed): boolean =>
      this.#lacked(listed.permissions) === undefined && (hasAllMailboxes || listed.needsAllMailboxes !== true);
    const shown = ({ tool, boundTool }: Listed) => (hasOwnName && boundTool) || tool;
    return { tools: all.filter(may).map(shown), permissions };
  }

  /** The first of these permissions that the caller lacks. */
  #lacked(needed: Listed['permissions']): string | undefined {
    const granted: readonly string[] = this.#granted?.permissions ?? [];
    return needed.find((one) => one !== 'none' && !allowedBy(one).some((allowed) => granted.includes(allowed)));
  }

  /** Undefined if there is no such tool. */
  readonly #call: McpCalls['call'] = async (name, { idempotencyKey, ...fields }, leavesUnseen, meta) => {
    const listed = this.#parts.tools.get(name);
    if (!listed) return undefined;
    const { calls, permissions, tool } = listed;
    const [first, second] = calls;
    const isDescribed = tool.outputSchema !== undefined;
    const asked = {
      ...{ idempotencyKey, leavesUnseen, isDescribed, tool: name, ofMessage: readTrace(meta) },
      argumentsText: this.#exact('arguments'),
    };
    if (second === undefined) return this.#make(first, fields, asked);
    const { waitSeconds, ...sent } = fields;
    return this.#tried(this.#operation(first), async () => {
      // Check first, so that the second call is not refused after the first was made.
      await this.admit('held');
      const lacked = this.#lacked(permissions);
      if (lacked !== undefined) throw apiError('PERMISSION_DENIED', lacked, this.#headers);
      const wait = waitSeconds ?? 30;
      if (!(Number.isInteger(wait) && Number(wait) >= 0 && Number(wait) <= 30))
        throw invalid('waitSeconds must be a whole number from 0 to 30');
      const done = await this.#make(first, sent, asked);
      if (done.isError) return done;
      const { id: messageId } = JSON.parse(done.text) as { readonly id: string };
      const ended = await this.#make(
        second,
        { messageId, waitSeconds: wait },
        {
          ...asked,
          idempotencyKey: undefined,
          argumentsText: undefined,
        },
      );
      return { ...ended, isError: ended.isError || isFailure(JSON.parse(ended.text)) };
    });
  };

  readonly #answerQuestion: McpCalls['answerQuestion'] = (fields, meta) =>
    this.#make('question.answer', fields, {
      ...{ idempotencyKey: undefined, leavesUnseen: false, isDescribed: false },
      ...{ tool: 'question_answer', ofMessage: readTrace(meta) },
      argumentsText: this.#exact('inputResponses', String(fields['questionId']), 'content'),
    });

  /** The text of a part of the message's parameters, if it may have a number that would lose digits. */
  #exact(...path: readonly string[]): string | undefined {
    return this.#received === undefined ? undefined : cut(this.#received, ['params', ...path]);
  }

  #operation(call: string): Callable {
    const operation = this.#parts.operations.get(call);
    if (!operation) throw new Error(`there is no call ${call}`);
    return operation;
  }

  /** Makes a call of the API. `given` has its parameters and fields in one object. */
  #make(name: string, given: Fields, asked: ToolRequest): Promise<McpOutcome> {
    const { idempotencyKey, leavesUnseen, isDescribed, tool, ofMessage } = asked;
    const { service, request, gone, state } = this.#parts;
    const { caller, requestId, spaceId } = request;
    const operation = this.#operation(name);
    const { route } = operation;
    if (this.#isAlone) state.log = state.log.child({ call: route.call });
    const isOfMessage = ofMessage.traceparent !== '';
    const trace = isOfMessage ? ofMessage : request.trace;
    if (this.#isAlone) state.traceId = traceIdOf(trace);
    const needsKey = route.idempotency === 'required' || route.idempotency === 'calls';
    const fallback = needsKey ? randomUUID() : undefined;
    return this.#tried(operation, async () => {
      const { fields, isBrief } = asBrief(given, route);
      const fieldsText = asked.argumentsText ?? JSON.stringify(fields);
      const call = callFromObject(fields, {
        caller,
        requestId,
        headers: {},
        trace,
        spaceId,
        text: fieldsText,
        idempotencyKey: idempotencyKey ?? fallback,
        // An HTTP request never has this identity.
        identity: `call ${route.call}\n${fieldsText}`,
        gone: () => gone,
        ifUnwritten: (undo) => request.ifUnwritten(undo),
        leavesUnseen,
        isModel: true,
      });
      const parts: typeof call.parts = (of) => {
        checkFields(fields, of, this.#parts.tools.get(tool)?.tool);
        return call.parts(of);
      };
      const run = () => operation.answer({ ...call, parts }, this.#isAlone ? state : {});
      const { text = 'null', headers } = await (isOfMessage && service.aroundMessage
        ? service.aroundMessage(ofMessage, `tools/call ${tool}`, run)
        : run());
      this.#admitted(headers);
      const hint =
        route.whenEmpty !== undefined && isEmpty(text)
          ? hintOf(route.whenEmpty, route.method === 'GET' ? given : {})
          : undefined;
      return { isError: false, text: isBrief ? briefOf(text) : text, hint, isDescribed };
    });
  }

  /** The answer of a call, or its refusal. Throws errors that refuse the whole request. */
  async #tried({ pattern, log }: Callable, make: () => Promise<McpOutcome>): Promise<McpOutcome> {
    const { service, request, state } = this.#parts;
    try {
      return await make();
    } catch (thrown) {
      if (refusesAnyCall(thrown)) {
        this.#refusal = thrown;
        if (this.#isAlone) throw thrown;
      }
      const { code, error, answer } = refusalOf(thrown, service, { requestId: request.requestId, route: pattern, log });
      const { 'Retry-After': retryAfter, ...headers } = answer.headers;
      this.#admitted(headers);
      if (this.#isAlone) state.code = code;
      const { advice } = error;
      const more = { ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }), ...(advice && { advice }) };
      return { isError: true, text: JSON.stringify({ ...JSON.parse(answer.text), ...more }) };
    }
  }

  #admitted(headers: Readonly<Record<string, string>>): void {
    this.#isAdmitted = true;
    this.#headers = headers;
  }
}
