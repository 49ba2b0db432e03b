import type Koa from 'koa';
import type { Logger } from 'pino';
import type { Answered, Fields } from '../declare/field.ts';
import type { Glossary } from '../declare/glossary.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../redis/connection.ts';
import type { Due } from '../redis/due.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import type { Calls } from './call.ts';
import type { Handler } from './endpoint.ts';
import type { ErrorTable } from './errors.ts';
import type { Route, Tag } from './route.ts';
import type { Match } from './router.ts';
import type { Site } from './site.ts';

/**
 * Objects of rooms that live as long as the service. Rooms add theirs to this interface, and src/service.ts creates
 * them.
 */
// biome-ignore lint/suspicious/noEmptyInterface: rooms fill it by declaration merging.
export interface Parts {}

/** What scripts of a request have asked for so far, as they take it. */
export interface Unpacked {
  readonly text: string;
}

/** Opens packed records for scripts that reply PACKED. */
export interface Unpacking {
  /** Whether the detail of such a reply asks for them. */
  isWanted(detail: string): boolean;
  /** Adds what it asks for to what was unpacked before. */
  unpack(detail: string, before?: Unpacked): Promise<Unpacked>;
}

/** What the HTTP layer works with. */
export interface Service {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly due: Due;
  readonly unpacking: Unpacking;
  readonly wake: Wake;
  /** The channel on which scripts publish their changes in a space. */
  readonly channel: (org: string, spaceId: string) => string;
  readonly parts: Parts;
  readonly log: Logger;
  /** Empty on a port that has only metrics and probes. */
  readonly routes: readonly Route[];
  /** Routes outside of spaces. */
  readonly spacelessRoutes: readonly Route[];
  readonly errors: ErrorTable;
  readonly tags: ReadonlyMap<string, Tag>;
  readonly glossary: (room: string) => Glossary;
  /** The text of GET /openapi.json; made at the first request. */
  readonly openapi: () => Promise<string>;
  /** Whether the store takes calls: GET /readyz. */
  readonly ready: () => Promise<boolean>;
  readonly metrics: Metrics;
  /** PUBLIC_URL; undefined: callers reach the API where it listens. */
  readonly publicUrl: string | undefined;
  /** Pages that need no key. */
  readonly sites: readonly Site[];
  /** What answers POST requests that are of no route, and makes calls of its own. */
  readonly gateways: readonly ((service: Service, calls: Calls) => Handler)[];
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

/** State that the steps of a request share, in `ctx.state`. */
export interface State {
  requestId: string;
  /** The route pattern, for logs and metrics; undefined: no such path. */
  route?: string;
  /** Its lines name the route once that is known. */
  log: Logger;
  /** The endpoint and the path parameters; undefined for paths outside of the API. */
  match?: Match;
  /** What `writeAnswer` writes. */
  answer?: Sent;
  /** The bytes of the body as they arrived. */
  chunks?: Buffer[];
  /** The error code of a failure. */
  code?: string;
  /** Why the store did not take the call. */
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

/** What a route's `serve` works with. */
export interface ServeContext<R extends Fields = Fields> extends Parts {
  readonly org: string;
  readonly apiKeyDigest: string;
  readonly store: Store;
  /** Aborts when the caller disconnects. */
  readonly gone: AbortSignal;
  /**
   * Runs the route's script with its `args`, overridden by `changes`. `again`: another run for the same request, which
   * the rates do not count. `reply` is undefined if the script replied with nothing. Throws refusals.
   */
  run(
    changes?: Readonly<Record<string, string | number>>,
    again?: boolean,
  ): Promise<{ readonly reply: Answered<R> | undefined; readonly replayed: boolean }>;
}
