import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Caller } from '../call/caller.ts';
import type { ApiError } from '../call/errors.ts';
import type { Response } from '../call/response.ts';

/** An answer to a request, ready to be written. */
export interface HttpResponse extends Response {
  /** A file in place of a text; the headers name its type. */
  readonly content?: Buffer;
}

/** Answers the requests at one path. */
export interface Handler {
  readonly method: string;
  /** The full path, for logs and metrics. */
  readonly pattern: string;
  readonly log: Logger;
  /** Default: `defaultMaxBodyBytes`. */
  readonly maxBodyBytes?: number | undefined;
  /** The body of an error in place of the envelope, where it has another. */
  readonly errorBody?: (error: ApiError) => string | undefined;
  /** A resource of OAuth: clients find its authorization server by themselves, and a token may be for this address alone. */
  readonly isResource?: boolean;
  /** Answers a request; throws refusals. */
  handle(ctx: Context, params: Readonly<Record<string, string>>): Promise<Response>;
}

/** The handler of a request and its path parameters, as sent. */
export interface Match {
  readonly handler: Handler;
  readonly params: Readonly<Record<string, string>>;
}

/** State that the steps of a request share, in `ctx.state`. */
export interface State {
  requestId: string;
  /** The route pattern, for logs and metrics; undefined: no such path. */
  route?: string;
  /** Its lines name the route once that is known. */
  log: Logger;
  /** Undefined for paths outside of the API. */
  match?: Match;
  /** The caller, if a token has identified it; undefined: the API key does. */
  caller?: Caller;
  /** The answer for `writeAnswer`. */
  answer?: HttpResponse;
  /** The bytes of the body as they arrived. */
  chunks?: Buffer[];
  /** The id of the trace that the request belongs to; '' or undefined: of none. */
  traceId?: string;
  /** The error code of a failure. */
  code?: string;
  /** Why the store did not take the call, or a token was refused. */
  reason?: string;
  /** How many calls a batch has, and the codes of those that were refused, with how many. */
  calls?: number;
  refused?: Readonly<Record<string, number>>;
}

/** koa-bodyparser reads `disableBodyParser`, but its types lack it. */
interface Extra {
  disableBodyParser?: boolean;
}

export type App = Koa<State, Extra>;
export type Context = Koa.ParameterizedContext<State, Extra>;
/** One step of a request: Koa's middleware. */
export type Step = Koa.Middleware<State, Extra>;
