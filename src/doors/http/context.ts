import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Response } from '../../engine/call/call.ts';
import type { Caller } from '../../engine/route/caller.ts';
import type { ApiError } from '../../engine/route/errors.ts';

/** An answer to a request, ready to be written. */
export interface HttpResponse extends Response {
  /** A file instead of a text; the headers name its type. */
  readonly content?: Buffer;
}

/** Answers the requests at one path. */
export interface Handler {
  readonly method: string;
  readonly pattern: string;
  readonly log: Logger;
  /** By default `defaultMaxBodyBytes`. */
  readonly maxBodyBytes?: number | undefined;
  /** The body of an error, if it is not the envelope. */
  readonly errorBody?: (error: ApiError) => string | undefined;
  /**
   * Whether it is an OAuth resource: clients discover its authorization server, and a token may be valid for this
   * address alone.
   */
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
  /** The route pattern, for logs and metrics; undefined for an unknown path. */
  route?: string;
  /** Its lines name the route as soon as it is known. */
  log: Logger;
  /** Undefined for paths outside the API. */
  match?: Match;
  /** The caller, once a token or a call has identified it. */
  caller?: Caller;
  /** The answer for `writeAnswer`. */
  answer?: HttpResponse;
  /** What to do if the answer was certainly not written. */
  unwritten?: (() => void)[];
  /** The bytes of the body as received. */
  chunks?: Buffer[];
  /** The id of the request's trace; '' or undefined if it has none. */
  traceId?: string;
  code?: string;
  /** Why the store did not accept the call, or why a token was refused. */
  reason?: string;
  /** The number of calls in a batch, and how many were refused, by code. */
  calls?: number;
  refused?: Readonly<Record<string, number>>;
}

/** koa-bodyparser reads `disableBodyParser`, which its types lack. */
interface Extra {
  disableBodyParser?: boolean;
}

export type App = Koa<State, Extra>;
export type Context = Koa.ParameterizedContext<State, Extra>;
/** One step of a request: Koa's middleware. */
export type Step = Koa.Middleware<State, Extra>;
