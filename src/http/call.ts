import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { Answered, Fields } from '../declare/field.ts';
import { One } from '../declare/record.ts';
import type { ReplyReader } from '../declare/reply.ts';
import type { Reply } from '../declare/value.ts';
import { Refusal } from '../redis/scripts.ts';
import { readNote } from './envelope.ts';
import { ApiError } from './errors.ts';
import { isUuid } from './fields.ts';
import { type Hold, Looks, type Ran } from './hold.ts';
import { stringify } from './json.ts';
import { type Caller, readCaller, readIdempotency, readInput } from './request.ts';
import type { Answer, Input, Route } from './route.ts';
import type { ServeContext } from './serve-context.ts';
import type { Sent, Service } from './serving.ts';

/** Arguments of lib/call, the same for every script behind a route. */
type CallArgs = Record<string, string | number>;

/** A route at work: one request, one script. */
export class Call {
  readonly route: Route;
  /** The whole path, for the log. */
  readonly pattern: string;
  readonly log: Logger;
  readonly #service: Service;
  readonly #read: ReplyReader<Fields>;
  readonly #looks = new Looks();
  readonly #status: number;
  /** The reply is a record, which is the answer. */
  readonly #isRecord: boolean;

  constructor(route: Route, pattern: string, service: Service) {
    this.route = route;
    this.pattern = pattern;
    // What every line of a route says is made text once.
    this.log = service.log.child({ route: pattern, script: route.script });
    this.#service = service;
    this.#status = Number(Object.keys(route.success)[0]);
    const [member, ...others] = Object.values(route.reply);
    this.#isRecord = member instanceof One && others.length === 0;
    this.#read = service.scripts.reader(route);
  }

  /** Answers a request; throws what it is refused with. */
  async handle(ctx: Context, params: Record<string, string>, requestId: string): Promise<Sent> {
    const { route } = this;
    const caller = readCaller(ctx.req.headers.authorization);
    const args: CallArgs = {
      apiKeyDigest: caller.apiKeyDigest,
      permission: route.permission === 'any' ? '' : route.permission,
      spaceId: '',
      rateClass: route.rate ?? 'ordinary',
      callName: route.call,
      idempotencyDigest: '',
      fingerprint: '',
      requestId,
      drainedThrough: '',
    };
    let input: Input;
    let own: CallArgs | undefined;
    try {
      input = readInput(ctx, route, params);
      own = route.args?.(input);
      readIdempotency(ctx, route, args);
    } catch (error) {
      throw error instanceof ApiError ? await this.#admitted(caller, args, params, error) : error;
    }
    Object.assign(args, input.params, own);
    if (route.serve) return this.#serve(caller, args, input, ctx);
    const ran = await this.#run(caller.org, args, input, ctx);
    return sent(this.#answer(ran, input), ran.note.headers);
  }

  /** The shape is wrong: says so only to a caller who may call, in a space that exists, within the rates. */
  async #admitted(caller: Caller, args: CallArgs, params: Record<string, string>, error: ApiError): Promise<ApiError> {
    const spaceId = (params['spaceId'] ?? '').toLowerCase();
    const wellFormed = isUuid(spaceId);
    const noted = (note: string): ApiError =>
      new ApiError(error.status, error.code, error.message, { ...error.headers, ...readNote(note).headers });
    try {
      const [note] = await this.#service.scripts.run('space/admit', caller.org, {
        ...args,
        spaceId: wellFormed ? spaceId : '',
      });
      return noted(String(note));
    } catch (refusal) {
      if (!wellFormed && refusal instanceof Refusal && refusal.code === 'SPACE_NOT_FOUND') return noted(refusal.note);
      throw refusal;
    }
  }

  #run(org: string, args: CallArgs, input: Input, ctx: Context): Promise<Ran> {
    const hold = this.route.hold?.(input);
    return hold ? this.#held(org, args, hold, ctx) : this.#ran(org, args);
  }

  async #held(org: string, args: CallArgs, hold: Hold, ctx: Context): Promise<Ran> {
    const first = await hold.look(
      (changes) => this.#ran(org, { ...args, ...changes }),
      false,
      () => undefined,
    );
    if (first) return first;
    const own = (changes: CallArgs) => this.#ran(org, { ...args, ...changes, rateClass: 'held' });
    const run = this.route.method === 'GET' ? () => this.#looks.share([org, args], () => own({})) : own;
    const gone = signalOf(ctx);
    const { wake, channel } = this.#service;
    const found = await wake.until(
      channel(org, String(args['spaceId'])),
      { waitMs: hold.waitSeconds * 1000, signal: gone, topic: hold.topic },
      (again) => hold.look(run, false, again),
    );
    // What became due meanwhile wakes nobody where no worker runs.
    const last = found ?? (gone.aborted ? undefined : await hold.look(run, true, () => undefined));
    return last ?? { note: readNote(''), reply: undefined };
  }

  /** The route answers by itself; the headers are those of its last run. */
  async #serve(caller: Caller, args: CallArgs, input: Input, ctx: Context): Promise<Sent> {
    let headers: Readonly<Record<string, string>> = {};
    const { store, parts } = this.#service;
    const context: ServeContext = {
      ...parts,
      ...caller,
      store,
      gone: signalOf(ctx),
      run: async (changes = {}, again = false) => {
        const rateClass = again ? 'held' : (args['rateClass'] ?? '');
        const { note, reply } = await this.#ran(caller.org, { ...args, ...changes, rateClass });
        headers = note.headers;
        return { reply: reply as Answered<Fields> | undefined, replayed: note.replayed };
      },
    };
    const answer = await this.route.serve?.(input, context);
    return sent(answer ?? { status: 204 }, headers);
  }

  /**
   * Runs the script; where something was due before it, has that done first: again, where another call of the same
   * moment left more to do.
   */
  async #once(org: string, args: CallArgs): Promise<Reply> {
    const { scripts, due } = this.#service;
    for (let own = args; ; own = { ...args, drainedThrough: await due.drain(org) }) {
      try {
        return await scripts.run(this.route.script, org, own);
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'DUE')) throw error;
      }
    }
  }

  /** Runs the script and reads its reply; the index of organizations is told of an earlier timer. */
  async #ran(org: string, args: CallArgs): Promise<Ran> {
    const [head, ...values] = await this.#once(org, args);
    const note = readNote(String(head));
    if (note.wake !== '') this.#tell(org, note.wake);
    return { note, reply: this.#read(values) };
  }

  #answer({ note, reply }: Ran, input: Input): Answer {
    const { answer } = this.route;
    if (reply === undefined) return { status: 204 };
    if (answer) return answer(reply as Answered<Fields>, input, note.replayed);
    const body = this.#isRecord ? Object.values(reply as object)[0] : reply;
    return { status: this.#status, body: this.route.success[this.#status] === null ? undefined : body };
  }

  /** Off the caller's path: a crash before it arrives is repaired by the periodic walk. */
  #tell(org: string, at: string): void {
    this.#service.due
      .tell(org, at)
      .catch((error: Error) => this.#service.log.warn({ error: error.message }, 'due index not told'));
  }
}

function sent({ status, body, stream }: Answer, headers: Readonly<Record<string, string>>): Sent {
  return stream
    ? { status, headers, stream }
    : { status, headers, text: body === undefined ? undefined : stringify(body) };
}

/** Aborts when the caller has gone. */
function signalOf(ctx: Context): AbortSignal {
  const controller = new AbortController();
  if (ctx.res.closed || ctx.req.socket.destroyed) controller.abort();
  else ctx.res.once('close', () => controller.abort());
  return controller.signal;
}
