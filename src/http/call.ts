import type { Context } from 'koa';
import { Refusal, type Reply } from '../redis/scripts.ts';
import type { Service } from './app.ts';
import { type Note, readNote } from './envelope.ts';
import { ApiError } from './errors.ts';
import { stringify } from './json.ts';
import { type Caller, readCaller, readIdempotency, readInput } from './request.ts';
import type { Answer, Input, Route } from './route.ts';

/** Arguments of lib/call, the same for every script behind a route. */
type CallArgs = Record<string, string | number>;

/** A route at work: one request, one script. */
export class Call {
  readonly #route: Route;
  readonly #service: Service;

  constructor(route: Route, service: Service) {
    this.#route = route;
    this.#service = service;
  }

  /** Answers a request; throws what it is refused with. */
  async handle(ctx: Context, params: Record<string, string>, requestId: string): Promise<void> {
    const route = this.#route;
    const caller = readCaller(ctx.headers.authorization);
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
      Object.assign(args, readIdempotency(ctx, route));
    } catch (error) {
      throw error instanceof ApiError ? await this.#admitted(caller, args, params, error) : error;
    }
    args['spaceId'] = input.params['spaceId'] ?? '';
    const reply = await this.#run(caller.org, args, input, ctx);
    this.#send(ctx, reply, input);
  }

  /** The shape is wrong: says so only to a caller who may call, in a space that exists, within the rates. */
  async #admitted(caller: Caller, args: CallArgs, params: Record<string, string>, error: ApiError): Promise<ApiError> {
    const spaceId = (params['spaceId'] ?? '').toLowerCase();
    const wellFormed = /^[0-9a-f-]{36}$/.test(spaceId);
    try {
      const [text] = await this.#service.scripts.run('space/admit', caller.org, { ...args, spaceId: wellFormed ? spaceId : '' });
      return new ApiError(error.status, error.code, error.message, { ...error.headers, ...readNote(String(text)).headers });
    } catch (refusal) {
      if (!wellFormed && refusal instanceof Refusal && refusal.code === 'SPACE_NOT_FOUND') return error;
      throw refusal;
    }
  }

  async #run(org: string, args: CallArgs, input: Input, ctx: Context): Promise<Reply> {
    const own = this.#route.args(input);
    const reply = await this.#once(org, { ...args, ...own });
    const hold = this.#route.hold?.(input);
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
        const again = await this.#once(org, { ...args, ...own, rateClass: 'held' });
        return again.length > 1 ? again : undefined;
      },
    );
    return found ?? reply;
  }

  /** Runs the script; where something was due before it, has that done first. */
  async #once(org: string, args: CallArgs): Promise<Reply> {
    const { scripts, due } = this.#service;
    try {
      return await scripts.run(this.#route.script, org, args);
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'DUE')) throw error;
    }
    return scripts.run(this.#route.script, org, { ...args, drainedThrough: await due.drain(org) });
  }

  #send(ctx: Context, reply: Reply, input: Input): void {
    const [text, ...values] = reply;
    const note: Note = readNote(String(text));
    if (note.wake !== '') this.#tell(ctx, note.wake);
    const answer: Answer = this.#route.answer(values, input, note.replayed);
    ctx.set(note.headers);
    if (note.replayed) ctx.set('Idempotent-Replayed', 'true');
    ctx.status = answer.status;
    if (answer.body === undefined) {
      ctx.body = null;
      return;
    }
    ctx.type = 'json';
    ctx.body = stringify(answer.body);
  }

  /** Off the caller's path: a crash before it arrives is repaired by the periodic walk. */
  #tell(ctx: Context, at: string): void {
    const { org } = readCaller(ctx.headers.authorization);
    this.#service.due.tell(org, at).catch((error: Error) => this.#service.log.warn({ error: error.message }, 'due index not told'));
  }
}

