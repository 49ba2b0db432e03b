import type { Logger } from 'pino';
import type { Answered, Fields } from '../declare/field.ts';
import { One } from '../declare/record.ts';
import type { ReplyReader } from '../declare/reply.ts';
import { Refusal } from '../redis/scripts.ts';
import { type Args, joinArgs } from '../route/args.ts';
import { ApiError, invalid } from '../route/errors.ts';
import { stringify } from '../route/json.ts';
import { type LinkTo, linkTo } from '../route/link.ts';
import type { ScriptResult } from '../route/long-poll.ts';
import type { Input, Route, RouteAnswer, ServeContext } from '../route/route.ts';
import type { CallService } from '../route/service.ts';
import { authorizeThenRefuse } from './authorize.ts';
import type { Call, Response } from './call.ts';
import { addIdempotency, argsOfCall, type CallArgs, rateClassOf } from './call-args.ts';
import { execute } from './executor.ts';
import { LongPolls } from './long-polls.ts';
import { readInput } from './read-input.ts';

/** What a call asks for: the route's input, and the arguments of its script. */
export interface ValidCall {
  readonly call: Call;
  readonly input: Input;
  readonly args: Args;
}

type Execute = (changes?: Args) => Promise<ScriptResult>;

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
    this.reader = service.scripts.reader(route);
    this.#service = service;
    this.#answer = answerer(route);
    this.#longPolls = new LongPolls(service);
  }

  /** Answers a call from HTTP, a batch or MCP. Throws refusals. */
  async answer(call: Call): Promise<Response> {
    const { route } = this;
    const callArgs = argsOfCall(call, route);
    let valid: ValidCall;
    try {
      valid = this.read(call, callArgs);
    } catch (error) {
      // A mistake is told only to a caller whom the store has admitted.
      if (!(error instanceof ApiError)) throw error;
      throw await authorizeThenRefuse(error, call.spaceId, (spaceId) =>
        (call.slot ?? this.#service.scripts).execute('space/admit', call.caller.org, { ...callArgs, spaceId }),
      );
    }
    const { input, args } = valid;
    const run: Execute = (changes) =>
      execute(this.#service, call, route.script, changes ? joinArgs(args, changes) : args, this.reader);
    if (route.serve) return this.#serve(valid, run);
    const result = await this.#result(valid, run);
    const { takes } = route;
    if (takes && result.reply !== undefined) {
      const { spaceId = '' } = input.params;
      call.ifUnwritten(() => {
        const items = takes.items(result.reply as Answered<Fields>);
        this.#service.givingBack.add({ script: takes.script, org: call.caller.org, spaceId, items });
      });
    }
    return respond(this.answerTo(result, valid), result.head.headers);
  }

  /** Reads the request in a call, whose caller is not checked yet. Throws ApiError for a mistake. */
  read(call: Call, callArgs: CallArgs): ValidCall {
    const { route } = this;
    const input = readInput(call, route);
    const args = joinArgs(callArgs, input.params, route.args?.(input));
    if (call.slot && route.hold?.(input)) throw invalid('waitSeconds must be 0 or left out in a batch');
    addIdempotency(args, call, route);
    return { call, input, args };
  }

  /** The answer that a result of the script makes. */
  answerTo(result: ScriptResult, { call, input }: ValidCall): RouteAnswer {
    const { reply, head } = result;
    const { metrics, publicUrl } = this.#service;
    if (this.route.times && reply && !head.replayed)
      for (const timed of this.route.times(reply as Answered<Fields>, input)) metrics.traffic.message(timed, head.now);
    return this.#answer(result, input, (path, token) => linkTo(call, publicUrl, path, token));
  }

  /** The result of the script: from its first run, or from the run that ends the hold. */
  async #result({ call, input, args }: ValidCall, run: Execute): Promise<ScriptResult> {
    const { route } = this;
    const poll = route.hold?.(input);
    try {
      if (poll) return await this.#longPolls.answer(poll, input.params['spaceId'] ?? '', args, call, run);
      if (call.slot && route.receives) return await call.slot.receive(route.receives, input, run);
      return await run();
    } catch (error) {
      if (!(error instanceof Refusal && route.detail)) throw error;
      throw new Refusal(error.code, error.head, route.detail(error, input));
    }
  }

  /** Answers by the route's `serve`, with the headers of its last run. */
  async #serve({ call, input }: ValidCall, run: Execute): Promise<Response> {
    const { store, parts, openRequests } = this.#service;
    let headers: Response['headers'] = {};
    const context: ServeContext = {
      ...parts,
      caller: call.caller,
      store,
      openRequests,
      gone: call.gone(),
      execute: async (changes, again = false) => {
        const rateClass = again ? 'held' : rateClassOf(this.route);
        const { head, reply } = await run({ ...changes, rateClass });
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

/** Writes an answer as text. */
export function respond({ status, body, stream }: RouteAnswer, headers: Response['headers']): Response {
  if (stream) return { status, headers, stream };
  return { status, headers, text: body === undefined ? undefined : stringify(body) };
}

/** Returns a function that turns a result into an answer, by the route's `answer` or its default. */
export function answerer(route: Route): (result: ScriptResult, input: Input, linkTo: LinkTo) => RouteAnswer {
  const status = Number(Object.keys(route.success)[0]);
  const hasBody = route.success[status] !== null;
  const [member, ...others] = Object.values(route.reply);
  const isRecord = member instanceof One && others.length === 0;
  return ({ head, reply }, input, linkTo) => {
    if (reply === undefined) return { status: 204 };
    if (route.answer) return route.answer(reply as Answered<Fields>, input, head.replayed, linkTo);
    if (!hasBody) return { status };
    return { status, body: isRecord ? Object.values(reply as object)[0] : reply };
  };
}
