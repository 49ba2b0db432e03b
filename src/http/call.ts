import type { Context } from 'koa';
import { Refusal, type Reply } from '../redis/scripts.ts';
import type { Sent, Service } from './app.ts';
import { readNote } from './envelope.ts';
import { ApiError } from './errors.ts';
import { stringify } from './json.ts';
import { type Caller, readCaller, readIdempotency, readInput } from './request.ts';
import type { Input, Route } from './route.ts';

/** Arguments of lib/call, the same for every script behind a route. */
type CallArgs = Record<string, string | number>;

/** A route at work: one request, one script. */
export class Call {
  readonly route: Route;
  /** The whole path, for the log. */
  readonly pattern: string;
  readonly #service: Service;

  constructor(route: Route, pattern: string, service: Service) {
    this.route = route;
    this.pattern = pattern;
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
    try {
      input = readInput(ctx, route, params);
      readIdempotency(ctx, route, args);
    } catch (error) {
      throw error instanceof ApiError ? await this.#admitted(caller, args, params, error) : error;
    }
    args['spaceId'] = input.params['spaceId'] ?? '';
    Object.assign(args, route.args(input));
    const reply = await this.#run(caller.org, args, input, ctx);
    return this.#answer(caller.org, reply, input);
  }

  /** The shape is wrong: says so only to a caller who may call, in a space that exists, within the rates. */
  async #admitted(caller: Caller, args: CallArgs, params: Record<string, string>, error: ApiError): Promise<ApiError> {
    const spaceId = (params['spaceId'] ?? '').toLowerCase();
    const wellFormed = /^[0-9a-f-]{36}$/.test(spaceId);
    try {
      const [text] = await this.#service.scripts.run('space/admit', caller.org, {
        ...args,
        spaceId: wellFormed ? spaceId : '',
      });
      return new ApiError(error.status, error.code, error.message, {
        ...error.headers,
        ...readNote(String(text)).headers,
      });
    } catch (refusal) {
      if (!wellFormed && refusal instanceof Refusal && refusal.code === 'SPACE_NOT_FOUND') return error;
      throw refusal;
    }
  }

  async #run(org: string, args: CallArgs, input: Input, ctx: Context): Promise<Reply> {
    const reply = await this.#once(org, args);
    const hold = this.route.hold?.(input);
    if (!hold || hold.waitSeconds === 0 || reply.length > 1) return reply;

    const gone = new AbortController();
    ctx.res.once('close', () => gone.abort());
    const channel = `muster:{${org}}:${args['spaceId']}:events`;
    const found = await this.#service.wake.until(
      channel,
      {
        waitMs: hold.waitSeconds * 1000,
        signal: gone.signal,
        matches: (token) => token.startsWith(`${hold.mailboxId}/`) && token.includes(`/${hold.scopeId}`),
      },
      async () => {
        const again = await this.#once(org, { ...args, rateClass: 'held' });
        return again.length > 1 ? again : undefined;
      },
    );
    return found ?? reply;
  }

  /** Runs the script; where something was due before it, has that done first. */
  async #once(org: string, args: CallArgs): Promise<Reply> {
    const { scripts, due } = this.#service;
    try {
      return await scripts.run(this.route.script, org, args);
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'DUE')) throw error;
    }
    return scripts.run(this.route.script, org, { ...args, drainedThrough: await due.drain(org) });
  }

  #answer(org: string, reply: Reply, input: Input): Sent {
    const [text, ...values] = reply;
    const note = readNote(String(text));
    if (note.wake !== '') this.#tell(org, note.wake);
    const { status, body } = this.route.answer(values, input, note.replayed);
    const headers = note.replayed ? { ...note.headers, 'Idempotent-Replayed': 'true' } : note.headers;
    return { status, headers, text: body === undefined ? undefined : stringify(body) };
  }

  /** Off the caller's path: a crash before it arrives is repaired by the periodic walk. */
  #tell(org: string, at: string): void {
    this.#service.due
      .tell(org, at)
      .catch((error: Error) => this.#service.log.warn({ error: error.message }, 'due index not told'));
  }
}
