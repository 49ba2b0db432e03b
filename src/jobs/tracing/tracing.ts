import type { Step } from '../../doors/http/context.ts';
import type { BeginTrace, GoOn } from '../../engine/route/trace.ts';

/** Makes spans of requests, messages and script runs. */
export interface Tracing {
  /** Makes a span of a request; wraps all of its steps. */
  readonly request: Step;
  /** Makes a span of an MCP message with its own trace, linked to the request's span. */
  readonly message: GoOn;
  /** Makes a span of a script's run. */
  readonly script: <T>(name: string, run: () => Promise<T>) => Promise<T>;
  readonly begin: BeginTrace;
  /** Exports the remaining spans. */
  stop(): Promise<void>;
}
