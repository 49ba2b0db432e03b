import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { Reply } from '../redis/reply.ts';
import { Refusal } from '../redis/scripts.ts';
import { journalKey } from '../space/keys.ts';
import { type Note, readNote } from './envelope.ts';
import { ApiError } from './errors.ts';
import { isUuid } from './fields.ts';
import { stringify } from './json.ts';
import { type Caller, readCaller, readIdempotency, readInput } from './request.ts';
import type { Answer, Hold, Input, Route } from './route.ts';
import type { ServeContext } from './serve-context.ts';
import type { Sent, Service } from './serving.ts';

/** Arguments of lib/call, the same for every script behind a route. */
type CallArgs = Record<string, string | number>;

/** How often a held receive tries again while the organization has its plan's claims. */
const limitedRetryMs = 500;

/** A held request retries CONCURRENCY_LIMITED by itself (specification, Errors). */
function unlessLimited(error: unknown): Refusal {
  if (error instanceof Refusal && error.code === 'CONCURRENCY_LIMITED') return error;
  throw error;
}

/** A route at work: one request, one script. */
export class Call {
  readonly route: Route;
  /** The whole path, for the log. */
  readonly pattern: string;
  readonly log: Logger;
  readonly #service: Service;

  constructor(route: Route, pattern: string, service: Service) {
    this.route = route;
    this.pattern = pattern;
    // What every line of a route says is made text once.
    this.log = service.log.child({ route: pattern, script: route.script });
    this.#service = service;
  }

  /** Answers a request; throws what it is refused with. */
  async handle(ctx: Context, params: Record<string, string>, requestId: string): Promise<Sent> {
    const { route } = this;
    const caller = readCaller(ctx.req.headers.authorization);
    const args: CallArgs = {
      apiKeyDigest: caller.apiKeyDigest,
      permission: route.permission,
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
    const { note, values } = this.#read(caller.org, await this.#run(caller.org, args, input, ctx));
    return sent(route.answer(values, input, note.replayed), note.headers);
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

  #run(org: string, args: CallArgs, input: Input, ctx: Context): Promise<Reply> {
    const hold = this.route.hold?.(input);
    return hold && hold.waitSeconds > 0 ? this.#held(org, args, hold, ctx) : this.#once(org, args);
  }

  async #held(org: string, args: CallArgs, hold: Hold, ctx: Context): Promise<Reply> {
    let last = await this.#once(org, { ...args, looksAgain: '1' }).catch(unlessLimited);
    if (!(last instanceof Refusal) && last.length > 1) return last;

    const look = (looksAgain = '1') => this.#once(org, { ...args, rateClass: 'held', looksAgain }).catch(unlessLimited);
    const gone = signalOf(ctx);
    const found = await this.#service.wake.until(
      journalKey(org, String(args['spaceId'])),
      {
        waitMs: hold.waitSeconds * 1000,
        signal: gone,
        place: `${hold.mailboxId}/${hold.scopeId}`,
      },
      async (again) => {
        last = await look();
        // Nothing wakes it when a claim elsewhere in the organization ends.
        if (last instanceof Refusal) again(limitedRetryMs);
        else if (last.length > 1) return last;
        return undefined;
      },
    );
    if (found) return found;
    // A lease that ended meanwhile wakes nobody where no worker runs.
    if (!gone.aborted) last = await look('');
    if (last instanceof Refusal) throw last;
    return last;
  }

  /** The route answers by itself; the headers are those of its last run. */
  async #serve(caller: Caller, args: CallArgs, input: Input, ctx: Context): Promise<Sent> {
    let headers: Readonly<Record<string, string>> = {};
    const { store, feeds, targets } = this.#service;
    const context: ServeContext = {
      ...caller,
      store,
      feeds,
      targets,
      gone: signalOf(ctx),
      run: async (changes = {}, again = false) => {
        const rateClass = again ? 'held' : (args['rateClass'] ?? '');
        const { note, values } = this.#read(
          caller.org,
          await this.#once(caller.org, { ...args, ...changes, rateClass }),
        );
        headers = note.headers;
        return { values, replayed: note.replayed };
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

  /** Takes a reply apart; the index of organizations is told of an earlier timer. */
  #read(org: string, [head, ...values]: Reply): { note: Note; values: Reply } {
    const note = readNote(String(head));
    if (note.wake !== '') this.#tell(org, note.wake);
    return { note, values };
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
