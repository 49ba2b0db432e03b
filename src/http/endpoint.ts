import type { Logger } from 'pino';
import type { Answered, Fields } from '../declare/field.ts';
import { One } from '../declare/record.ts';
import type { ReplyReader } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import { admitted } from './admit.ts';
import { callArgs } from './call-args.ts';
import type { Context, Sent, ServeContext, Service, Step, Unpacked } from './context.ts';
import { readNote } from './envelope.ts';
import { ApiError, apiError, invalid } from './errors.ts';
import { type Hold, Looks, type Ran } from './hold.ts';
import { stringify } from './json.ts';
import { type Asked, type Caller, Request, readCaller, readIdempotency, readInput } from './request.ts';
import type { Answer, Input, Route } from './route.ts';

/** A script's arguments by name: those of lib/call, which every route's script takes, and the route's. */
type Args = Record<string, string | number>;

/** A call that asks for packed messages so often meets segments that change all the time. */
const maxRuns = 50;

/** No caller gives up so soon. */
const atOnceMs = 1_000;

const nothing: Ran = { note: readNote(''), reply: undefined };

/** Runs the endpoint that was found. */
export const runEndpoint: Step = async (ctx) => {
  const { match } = ctx.state;
  if (!match) throw apiError('ROUTE_NOT_FOUND');
  ctx.state.answer = await match.endpoint.handle(ctx, match.params);
};

/** Answers the requests at one path. */
export interface Handler {
  /** Undefined: it is none of the list. */
  readonly route?: Route;
  /** The full path, for logs and metrics. */
  readonly pattern: string;
  readonly log: Logger;
  /** The body of an error in place of the envelope, where it has another. */
  readonly errorBody?: (error: ApiError) => string | undefined;
  /** Answers a request; throws refusals. */
  handle(ctx: Context, params: Record<string, string>): Promise<Sent>;
}

/** One request, one script. */
export class Endpoint implements Handler {
  readonly route: Route;
  readonly pattern: string;
  readonly log: Logger;
  readonly #service: Service;
  readonly #read: ReplyReader<Fields>;
  readonly #looks = new Looks();
  readonly #status: number;
  /** The reply is one record, which is the answer. */
  readonly #isRecord: boolean;

  constructor(route: Route, pattern: string, service: Service) {
    this.route = route;
    this.pattern = pattern;
    // Serialized once, not for each line.
    this.log = service.log.child({ route: pattern, script: route.script });
    this.#service = service;
    this.#status = Number(Object.keys(route.success)[0]);
    const [member, ...others] = Object.values(route.reply);
    this.#isRecord = member instanceof One && others.length === 0;
    this.#read = service.scripts.reader(route);
  }

  async handle(ctx: Context, params: Record<string, string>): Promise<Sent> {
    return this.call(readCaller(ctx.req.headers.authorization), new Request(ctx, params));
  }

  /** Answers a call of this caller; throws refusals. */
  async call(caller: Caller, asked: Asked): Promise<Sent> {
    const { route } = this;
    const args: Args = {
      ...callArgs,
      apiKeyDigest: caller.apiKeyDigest,
      permission: route.permission === 'any' ? '' : route.permission,
      rateClass: route.rate ?? 'ordinary',
      callName: route.call,
      requestId: asked.requestId,
    };
    let input: Input;
    let routeArgs: Args | undefined;
    try {
      input = readInput(asked, route);
      routeArgs = route.args?.(input);
      if (asked.turn && route.hold?.(input)) throw invalid('waitSeconds must be 0 or left out in a batch');
      readIdempotency(asked, route, args);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw await admitted(error, asked.params['spaceId'], (spaceId) =>
        this.#runOnce('space/admit', caller.org, { ...args, spaceId }, asked),
      );
    }
    Object.assign(args, input.params, routeArgs);
    if (route.serve) return this.#serve(caller, args, input, asked);
    const ran = await this.#run(caller.org, args, input, asked).catch((error) => {
      if (!(error instanceof Refusal && route.detail)) throw error;
      throw new Refusal(error.code, error.note, route.detail(error, input));
    });
    return sent(this.#answer(ran, input), ran.note.headers);
  }

  #run(org: string, args: Args, input: Input, asked: Asked): Promise<Ran> {
    const hold = this.route.hold?.(input);
    const takes = this.route.method !== 'GET';
    if (hold && takes && asked.leavesUnseen) return this.#heldUntilWoken(org, args, hold, asked);
    if (hold) return this.#held(org, args, hold, asked);
    const { receives } = this.route;
    return asked.turn && receives
      ? asked.turn.receive(receives, input, () => this.#ran(org, args, asked))
      : this.#ran(org, args, asked);
  }

  async #held(org: string, args: Args, hold: Hold, asked: Asked): Promise<Ran> {
    const first = await hold.look(
      (changes) => this.#ran(org, { ...args, ...changes }, asked),
      false,
      () => undefined,
    );
    if (first) return first;
    const look = (changes: Args) => this.#ran(org, { ...args, ...changes, rateClass: 'held' }, asked);
    const run = this.route.method === 'GET' ? () => this.#looks.share([org, args], () => look({})) : look;
    const gone = asked.gone();
    const { wake, channel } = this.#service;
    const found = await wake.until(
      channel(org, String(args['spaceId'])),
      { waitMs: hold.waitSeconds * 1000, signal: gone, topic: hold.topic },
      (again) => hold.look(run, false, again),
    );
    // Without a worker, nothing announces what fell due meanwhile.
    const last = found ?? (gone.aborted ? undefined : await hold.look(run, true, () => undefined));
    return last ?? nothing;
  }

  /**
   * Holds a request whose caller may give up unseen. Nothing is taken for it but at once: when there is something later, it is
   * answered as if there were nothing, and calls again.
   */
  async #heldUntilWoken(org: string, args: Args, hold: Hold, asked: Asked): Promise<Ran> {
    const began = performance.now();
    const looked = (isLast: boolean, rate: Args) =>
      hold.look(
        (changes) => this.#ran(org, { ...args, ...changes, ...rate }, asked),
        isLast,
        () => undefined,
      );
    // The last one: it is the answer, also if it is refused.
    const first = (await looked(true, {})) ?? nothing;
    if (first.reply !== undefined) return first;
    let isRegistered = false;
    const { wake, channel } = this.#service;
    const found = await wake.until(
      channel(org, String(args['spaceId'])),
      { waitMs: hold.waitSeconds * 1000, signal: asked.gone(), topic: hold.topic },
      async (again) => {
        if (!isRegistered && performance.now() - began < atOnceMs) {
          isRegistered = true;
          // For what became ready before it could be woken.
          return looked(false, { rateClass: 'held' });
        }
        // The wake-up is not used: the next one that waits gets it, too.
        again(0);
        return first;
      },
    );
    return found ?? first;
  }

  /** Has the route's `serve` answer, with the headers of its last run. */
  async #serve(caller: Caller, args: Args, input: Input, asked: Asked): Promise<Sent> {
    let headers: Readonly<Record<string, string>> = {};
    const { store, parts } = this.#service;
    const context: ServeContext = {
      ...parts,
      ...caller,
      store,
      gone: asked.gone(),
      run: async (changes = {}, again = false) => {
        const rateClass = again ? 'held' : (args['rateClass'] ?? '');
        const { note, reply } = await this.#ran(caller.org, { ...args, ...changes, rateClass }, asked);
        headers = note.headers;
        return { reply: reply as Answered<Fields> | undefined, replayed: note.replayed };
      },
    };
    const found = await this.route.serve?.(input, context).catch((error) => {
      if (!(error instanceof ApiError)) throw error;
      throw new ApiError(error.status, error.code, error.message, { ...headers, ...error.headers });
    });
    return sent(found ?? { status: 204 }, headers);
  }

  /**
   * Runs the script. If it refuses with DUE, sweeps and runs it again; more than once if concurrent calls leave more to
   * sweep. Likewise unpacks messages that it asks for with PACKED.
   */
  async #once(org: string, args: Args, asked: Asked): Promise<Reply> {
    const { due, unpacking } = this.#service;
    let unpacked: Unpacked | undefined;
    for (let current = args, runs = 1; ; runs++) {
      try {
        return await this.#runOnce(this.route.script, org, current, asked);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (error.code === 'DUE') current = { ...current, drainedThrough: await due.drain(org, error.detail) };
        else if (error.code === 'PACKED' && unpacking.isWanted(error.detail)) {
          if (runs > maxRuns) throw new StoreUnavailable('messages are being packed');
          unpacked = await unpacking.unpack(error.detail, unpacked);
          current = { ...current, unpacked: unpacked.text };
        } else throw error;
      }
    }
  }

  #runOnce(script: string, org: string, args: Args, { turn }: Asked): Promise<Reply> {
    return turn ? turn.run(script, org, args) : this.#service.scripts.run(script, org, args);
  }

  /** Runs the script and reads its reply; announces an earlier timer to the index of organizations. */
  async #ran(org: string, args: Args, asked: Asked): Promise<Ran> {
    const [head, ...values] = await this.#once(org, args, asked);
    const note = readNote(String(head));
    if (note.wake !== '') this.#indexDue(org, note.wake);
    return { note, reply: this.#read(values) };
  }

  #answer({ note, reply }: Ran, input: Input): Answer {
    const { route } = this;
    if (reply === undefined) return { status: 204 };
    if (route.answer) return route.answer(reply as Answered<Fields>, input, note.replayed);
    const body = this.#isRecord ? Object.values(reply as object)[0] : reply;
    return { status: this.#status, body: route.success[this.#status] === null ? undefined : body };
  }

  /** Not awaited: the periodic repair finds what a crash loses. */
  #indexDue(org: string, at: string): void {
    this.#service.due
      .announce(org, at)
      .catch((error: Error) =>
        this.#service.log.warn({ error: error.message }, 'cannot update the index of due organizations'),
      );
  }
}

function sent({ status, body, stream }: Answer, headers: Readonly<Record<string, string>>): Sent {
  if (stream) return { status, headers, stream };
  return { status, headers, text: body === undefined ? undefined : stringify(body) };
}
