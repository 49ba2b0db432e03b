import type { Logger } from 'pino';
import type { Answered, Fields } from '../declare/field.ts';
import type { ReplyReader } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { Refusal } from '../redis/scripts.ts';
import { callArgs } from '../route/args.ts';
import { callerArgs } from '../route/caller.ts';
import { ApiError, invalid } from '../route/errors.ts';
import { linkTo } from '../route/link.ts';
import type { Args, Layers, ScriptResult } from '../route/long-poll.ts';
import { readHead } from '../route/reply-head.ts';
import { allowedBy, type Input, type Route, type RouteAnswer, type ServeContext } from '../route/route.ts';
import { statusOf } from '../route/route-errors.ts';
import type { CallService } from '../route/service.ts';
import { authorizeThenRefuse } from './authorize.ts';
import type { Call, CallParts } from './call.ts';
import { Executor } from './executor.ts';
import { readIdempotency } from './idempotency.ts';
import { LongPolls } from './long-polls.ts';
import { isObject, readInput } from './read-input.ts';
import { toApiError } from './refusal.ts';
import { answerer, type Response, respond } from './response.ts';

/** The request in a valid call: the route's input, and all arguments of its script. */
export interface ValidCall {
  readonly call: Call;
  readonly input: Input;
  readonly args: Layers;
}

interface Request extends ValidCall {
  readonly executor: Executor;
}

const none: Args = {};

/** The permissions that the caller needs, as the script takes them. Of permissions separated by commas any one will do. */
export function permissionOf(route: Route, call: Call): string {
  const { permission, permissionsFor } = route;
  if (permission === 'any') return '';
  const needed = permissionsFor?.(partsOf(route, call)?.body) ?? [permission];
  const permissions = needed.map((one) => allowedBy(one).join());
  return [...permissions, ...(needsAllMailboxes(route, call) ? ['mailboxes'] : [])].join(' ');
}

function needsAllMailboxes(route: Route, call: Call): boolean {
  if (route.needsAllMailboxes !== 'without mailboxId') return route.needsAllMailboxes === true;
  return partsOf(route, call)?.query['mailboxId'] === undefined;
}

/** The parts as sent; undefined if they cannot be read, which is refused later. */
function partsOf(route: Route, call: Call): CallParts | undefined {
  try {
    return call.parts(route);
  } catch {
    return undefined;
  }
}

const rateClassOf = ({ rate }: Route): string => rate ?? 'ordinary';

/** A route that can be called. One call runs one script. */
export class Operation {
  readonly route: Route;
  /** The full path, for logs and metrics. */
  readonly pattern: string;
  readonly log: Logger;
  readonly reader: ReplyReader<Fields>;
  readonly #service: CallService;

  readonly #answer: ReturnType<typeof answerer>;
  readonly #longPolls: LongPolls;

  constructor(route: Route, pattern: string, service: CallService) {
    this.route = route;
    this.pattern = pattern;
    // Serialized once, not for each line.
    this.log = service.log.child({ route: pattern, script: route.script });
    this.#service = service;
    this.reader = service.scripts.reader(route);
    this.#answer = answerer(route);
    this.#longPolls = new LongPolls(service);
  }

  /** Answers a call from HTTP, a batch or MCP. Throws refusals. */
  async answer(call: Call): Promise<Response> {
    const request = await this.#validate(call);
    if (this.route.serve) return this.#serve(request);
    const { head, reply } = await this.#result(request);
    const { takes } = this.route;
    if (takes && reply !== undefined) {
      const { spaceId = '' } = request.input.params;
      call.ifUnwritten(() => {
        const items = takes.items(reply as Answered<Fields>);
        this.#service.givingBack.add({ script: takes.script, org: call.caller.org, spaceId, items });
      });
    }
    return respond(this.#answered({ head, reply }, request.input, call), head.headers);
  }

  /** Reads the request. A mistake in it is refused only after the store has admitted the caller. */
  async #validate(call: Call): Promise<Request> {
    const executor = new Executor(this.#service, call);
    const args = this.#callerArgs(call);
    try {
      return { executor, ...this.#read(call, args) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw await authorizeThenRefuse(error, call.spaceId, (spaceId) =>
        executor.once('space/admit', [{ spaceId }, args]),
      );
    }
  }

  /** The request in a call, without a check of the caller. Throws ApiError for a mistake. */
  asked(call: Call): ValidCall {
    return this.#read(call, this.#callerArgs(call));
  }

  #callerArgs(call: Call): Record<string, string | number> {
    const { route } = this;
    return {
      ...callArgs,
      ...callerArgs(call.caller),
      permission: permissionOf(route, call),
      rateClass: rateClassOf(route),
      callName: route.call,
      requestId: call.requestId,
    };
  }

  #read(call: Call, args: Record<string, string | number>): ValidCall {
    const { route } = this;
    const input = readInput(call, route);
    const routeArgs = route.args?.(input);
    if (call.slot && route.hold?.(input)) throw invalid('waitSeconds must be 0 or left out in a batch');
    readIdempotency(call, route, args);
    return { call, input, args: [routeArgs ?? none, input.params, args] };
  }

  /** Turns a reply of the script, which starts with its head, into the answer. */
  answerTo([first, ...values]: Reply, { call, input }: ValidCall, without: readonly string[] = []): Response {
    const head = readHead(String(first));
    const { status, body } = this.#answered({ head, reply: this.reader(values) }, input, call);
    const shown = isObject(body)
      ? Object.fromEntries(Object.entries(body).filter(([name]) => !without.includes(name)))
      : body;
    return respond({ status, body: shown }, head.headers);
  }

  #answered(result: ScriptResult, input: Input, call: Call): RouteAnswer {
    const { reply, head } = result;
    if (this.route.times && reply && !head.replayed)
      for (const timed of this.route.times(reply as Answered<Fields>, input))
        this.#service.metrics.traffic.message(timed, head.now);
    return this.#answer(result, input, linkTo(call, this.#service.publicUrl));
  }

  refusal(refusal: Refusal, input: Input): ApiError {
    const { errors } = this.#service;
    const detail = this.route.detail?.(refusal, input) ?? refusal.detail;
    const status = statusOf(errors, refusal.code, this.pattern, detail);
    return toApiError(new Refusal(refusal.code, refusal.head, detail), errors).with({ status });
  }

  /** The result of the script: from its first run, or from the run that ends the hold. */
  async #result(request: Request): Promise<ScriptResult> {
    const { route } = this;
    const { call, input, args } = request;
    const execute = (changes?: Args): Promise<ScriptResult> => this.#execute(request, changes);
    const hold = route.hold?.(input);
    const { spaceId = '' } = input.params;
    try {
      if (hold)
        return await (route.method === 'GET'
          ? this.#longPolls.read(hold, spaceId, args, call, execute)
          : this.#longPolls.receive(hold, spaceId, call, execute));
      if (call.slot && route.receives) return await call.slot.receive(route.receives, input, execute);
      return await execute();
    } catch (error) {
      if (!(error instanceof Refusal && route.detail)) throw error;
      throw new Refusal(error.code, error.head, route.detail(error, input));
    }
  }

  #execute({ executor, args }: Request, changes?: Args): Promise<ScriptResult> {
    return executor.execute(this.route.script, changes ? [changes, ...args] : args, this.reader);
  }

  /** Answers by the route's `serve`, with the headers of its last run. */
  async #serve(request: Request): Promise<Response> {
    const { call, input } = request;
    const { store, parts } = this.#service;
    let headers: Response['headers'] = {};
    const context: ServeContext = {
      ...parts,
      caller: call.caller,
      store,
      gone: call.gone(),
      execute: async (changes = {}, again = false) => {
        const rateClass = again ? 'held' : rateClassOf(this.route);
        const { head, reply } = await this.#execute(request, { ...changes, rateClass });
        headers = head.headers;
        return { reply: reply as Answered<Fields> | undefined, replayed: head.replayed };
      },
    };
    try {
      const found = await this.route.serve?.(input, context);
      return respond(found ?? { status: 204 }, headers);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError(error.status, error.code, error.message, { ...headers, ...error.headers });
    }
  }
}
