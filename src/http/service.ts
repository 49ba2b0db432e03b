import type { Operation } from '../call/operation.ts';
import type { Route, Tag } from '../call/route.ts';
import type { CallService } from '../call/service.ts';
import type { GoOn } from '../call/trace.ts';
import type { Glossary } from '../declare/glossary.ts';
import type { Handler, Step } from './context.ts';

/** Makes the handler of a path whose requests consist of calls. operations: by the names of their calls. */
export type Gateway = (service: HttpService, operations: ReadonlyMap<string, Operation>) => Handler;

/** The parts that the HTTP layer needs. */
export interface HttpService extends CallService {
  /** Empty on a port that has only metrics and probes. */
  readonly routes: readonly Route[];
  /** Routes outside of spaces. */
  readonly spacelessRoutes: readonly Route[];
  readonly tags: ReadonlyMap<string, Tag>;
  readonly glossary: (room: string) => Glossary;
  readonly gateways: readonly Gateway[];
  /** The text of GET /openapi.json; made at the first request. */
  readonly openapi: () => Promise<string>;
  /** Whether the store takes calls: GET /readyz. */
  readonly ready: () => Promise<boolean>;
  /** Finds the callers of requests without an API key; undefined: there are none. */
  readonly identify?: Step | undefined;
  /** Pages that need no key. */
  readonly sites: readonly { readonly pages: Step }[];
  /** Goes around each request, for spans. */
  readonly aroundRequest?: Step | undefined;
  /** Goes around a message in a request that says by itself where it stands in a trace. */
  readonly aroundMessage?: GoOn | undefined;
  /** Whether GET /metrics is answered here. */
  readonly showsMetrics: boolean;
}
