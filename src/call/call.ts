import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from './caller.ts';
import type { Route } from './route.ts';
import type { TraceContext } from './trace.ts';
import type { Turn } from './turn.ts';

/** The words of error messages for a call's fields. */
export interface Origin {
  /** The word for a member of the query. */
  readonly parameter: string;
  /** The word for a member of the body. */
  readonly field: string;
  /** Stands before messages about the query. */
  readonly prefix: string;
  /** Stands behind the name of a path parameter. */
  readonly path: string;
  /** The name of the idempotency key. */
  readonly key: string;
}

/** The parts of a call, as sent. */
export interface CallParts {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A call of an operation: a request of its own, one of a batch, or a tool call. */
export interface Call {
  readonly caller: Caller;
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** Where the caller stands in a trace. It is no part of what a repetition repeats. */
  readonly trace: TraceContext;
  /** As sent. */
  readonly spaceId: unknown;
  readonly origin: Origin;
  /** The text of the body, or of all fields; '' where none was sent. */
  readonly text: string;
  /** Undefined: none. Anything but a string is refused. */
  readonly idempotencyKey: unknown;
  /** The key is derived from that of a batch, and may be longer. */
  readonly hasDerivedKey?: boolean;
  /** Only a repetition of the same call has the same. */
  readonly identity: string;
  /** Of calls that are made in order. They cannot be held. */
  readonly turn?: Turn;
  /** The caller may give up and keep its connection, so that `gone` never aborts. */
  readonly leavesUnseen?: boolean;
  /** The caller is a model, which gets no links: they are for people. */
  readonly isModel?: boolean;
  /** Aborts when the caller has gone. */
  gone(): AbortSignal;
  /** The parts that the route reads. Throws VALIDATION_FAILED. */
  parts(route: Route): CallParts;
}
