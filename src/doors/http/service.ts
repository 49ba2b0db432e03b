import type { Operation } from '../../engine/call/operation.ts';
import type { Glossary } from '../../engine/declare/glossary.ts';
import type { StoreUnavailable } from '../../engine/redis/scripts.ts';
import type { Route, Tag } from '../../engine/route/route.ts';
import type { CallService } from '../../engine/route/service.ts';
import type { GoOn } from '../../engine/route/trace.ts';
import type { Handler, Step } from './context.ts';

/** Creates the handler of a path whose requests contain calls. operations: by call name. */
export type Gateway = (service: HttpService, operations: ReadonlyMap<string, Operation>) => Handler;

/** The services that the HTTP layer needs. */
export interface HttpService extends CallService {
  /** Empty on a port with only metrics and probes. */
  readonly routes: readonly Route[];
  readonly spacelessRoutes: readonly Route[];
  readonly tags: ReadonlyMap<string, Tag>;
  readonly glossary: (room: string) => Glossary;
  readonly gateways: readonly Gateway[];
  /** The text of GET /openapi.json, made at the first request. */
  readonly openapi: () => Promise<string>;
  /** Why the store accepts no calls, for GET /readyz; undefined if it does. */
  readonly unready: () => Promise<StoreUnavailable | undefined>;
  /** Identifies callers by tokens; undefined if tokens are not accepted. */
  readonly identify?: Step | undefined;
  /** The origins whose web pages may call, besides the server's own. */
  readonly corsOrigins: ReadonlySet<string>;
  /** Pages that need no key. */
  readonly sites: readonly { readonly pages: Step }[];
  /** Wraps each request, for spans. */
  readonly aroundRequest?: Step | undefined;
  /** Wraps a message that has its own trace in a request. */
  readonly aroundMessage?: GoOn | undefined;
  /** Whether this server answers GET /metrics. */
  readonly showsMetrics: boolean;
}
