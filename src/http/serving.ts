import type { Logger } from 'pino';
import type { Metrics } from '../metrics/metrics.ts';
import type { Store } from '../redis/connection.ts';
import type { Due } from '../redis/due.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import type { ErrorTable } from './errors.ts';
import type { Route } from './route.ts';
import type { Parts } from './serve-context.ts';
import type { Site } from './site.ts';

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

/** What a request leaves for its log line. */
export interface Trace {
  route: string | undefined;
  /** Names route and script in every line, once they are known. */
  log: Logger;
  /** of a failure */
  code?: string;
  /** why the store did not take the call */
  why?: string;
}

/** A response ready to be written; no `text`: no content. */
export interface Sent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text?: string | undefined;
  /** In its place: a file, whose headers say of what type. */
  readonly content?: Buffer;
  /** In its place: server-sent events. */
  readonly stream?: AsyncIterable<string>;
}
