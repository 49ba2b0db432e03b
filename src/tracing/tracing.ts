import type { BeginTrace, GoOn } from '../call/trace.ts';
import type { Step } from '../http/context.ts';

/** Makes spans of what the service does. */
export interface Tracing {
  /** Makes one of a request; goes around all of its steps. */
  readonly request: Step;
  /** Makes one of a message of MCP that says where it stands in a trace; linked to that of its request. */
  readonly message: GoOn;
  /** Makes one of a run of a script. */
  readonly script: <T>(name: string, run: () => Promise<T>) => Promise<T>;
  readonly begin: BeginTrace;
  /** Exports what is left. */
  stop(): Promise<void>;
}
