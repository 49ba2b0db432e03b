import type { BeginTrace } from '../call/trace.ts';
import type { Step } from '../http/context.ts';

/** Makes spans of what the service does. */
export interface Tracing {
  /** Makes one of a request; goes around all of its steps. */
  readonly request: Step;
  /** Makes one of a run of a script. */
  readonly script: <T>(name: string, run: () => Promise<T>) => Promise<T>;
  readonly begin: BeginTrace;
  /** Exports what is left. */
  stop(): Promise<void>;
}
