import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Answered, Fields } from '../declare/field.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../redis/connection.ts';
import type { Due } from '../redis/due.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import type { ErrorTable } from './errors.ts';
import type { Route } from './route.ts';
import type { Match } from './router.ts';
import type { Site } from './site.ts';

/** What rooms keep for each running service; each declares its own here, and src/service.ts makes it. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it by declaration merging.
export interface Parts {}

/** What the HTTP side works with. */
export interface Service {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly due: Due;
  readonly wake: Wake;
  /** The channel on which scripts publish what they change in a space. */
  readonly channel: (org: string, spaceId: string) => string;
  readonly parts: Parts;
  readonly log: Logger;
  /** Empty on a port that has only metrics and probes: there is no API to describe or to show. */
  readonly routes: readonly Route[];
  /** Those of no space. */
  readonly spacelessRoutes: readonly Route[];
  readonly errors: ErrorTable;
  /** The text of GET /openapi.json. */
  readonly openapi: string;
  /** Whether the store takes calls: GET /readyz. */
  readonly ready: () => Promise<boolean>;
  readonly metrics: Metrics;
  /** Pages that need no key. */
  readonly sites: readonly Site[];
  /** Whether GET /metrics is answered here. */
  readonly showsMetrics: boolean;
}

/** An answer, ready to be written; without text, content and stream: no content. */
export interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers name another type. */
  readonly text?: string | undefined;
  /** A file; the headers name its type. */
  readonly content?: Buffer;
  /** Server-sent events. */
  readonly stream?: AsyncIterable<string>;
}

/** What a request's steps leave for each other, in `ctx.state`. */
export interface State {
  requestId: string;
  /** The route pattern, for logs and metrics; undefined: no such path. */
  route?: string;
  /** Names the route in every line once it is known. */
  log: Logger;
  /** The endpoint and the path parameters; undefined where the path is not one of the API's. */
  match?: Match;
  /** What `writeAnswer` writes. */
  answer?: Sent;
  /** The bytes of the body as they arrived. */
  chunks?: Buffer[];
  /** The error code of a failure. */
  code?: string;
  /** Why the store did not take the call. */
  reason?: string;
}

/** `disableBodyParser` is koa-bodyparser's: its types leave it out. */
interface Extra {
  disableBodyParser?: boolean;
}

export type App = Koa<State, Extra>;
export type Context = Koa.ParameterizedContext<State, Extra>;
/** One step of a request: Koa's middleware. */
export type Step = Koa.Middleware<State, Extra>;

/** What a route works with that serves its requests by itself. */
export interface ServeContext<R extends Fields = Fields> extends Parts {
  readonly org: string;
  readonly apiKeyDigest: string;
  readonly store: Store;
  /** Aborts when the caller has gone. */
  readonly gone: AbortSignal;
  /**
   * Runs the route's script with the arguments of `args`, changed by `changes`. `again`: another look for the same
   * request, which the rates do not count. `reply` undefined: the script replied with nothing. Throws the refusal.
   */
  run(
    changes?: Readonly<Record<string, string | number>>,
    again?: boolean,
  ): Promise<{ readonly reply: Answered<R> | undefined; readonly replayed: boolean }>;
}
