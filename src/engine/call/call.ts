import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../route/caller.ts';
import type { Route } from '../route/route.ts';
import type { TraceContext } from '../route/trace.ts';
import type { BatchSlot } from './batch-slot.ts';

/** How error messages name the parts of a call. */
export interface Origin {
  /** The word for a query parameter. */
  readonly parameter: string;
  /** The word for a member of the body. */
  readonly field: string;
  /** Precedes messages about the query. */
  readonly prefix: string;
  /** Follows the name of a path parameter. */
  readonly path: string;
  readonly key: string;
}

export interface CallParts {
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** A call of an operation: a request, an element of a batch, or a tool call. */
export interface Call {
  readonly caller: Caller;
  readonly requestId: string;
  readonly headers: IncomingHttpHeaders;
  /** The caller's position in a trace. It is not part of the call's identity. */
  readonly trace: TraceContext;
  /** As sent. */
  readonly spaceId: unknown;
  readonly origin: Origin;
  /** The text of the body, or of all fields; '' if none was sent. */
  readonly text: string;
  /** Undefined for none. Anything but a string is refused. */
  readonly idempotencyKey: unknown;
  /** The key is derived from a batch's key, and may be longer. */
  readonly hasDerivedKey?: boolean;
  /** Equal only for a repetition of the same call. */
  readonly identity: string;
  /** For calls that are made in order. They cannot be held. */
  readonly slot?: BatchSlot;
  /** The caller may give up and keep its connection, so `gone` never aborts. */
  readonly leavesUnseen?: boolean;
  /** The caller is a model. It gets no links, which are for people. */
  readonly isModel?: boolean;
  /** Aborts when the caller disconnects. */
  gone(): AbortSignal;
  /** Calls `undo` if the caller disconnects before the answer was written, so that what the call took for it is given back. */
  ifUnwritten(undo: () => void): void;
  /** The parts that the route reads. Throws VALIDATION_FAILED. */
  parts(route: Route): CallParts;
}

/** The answer to a call, ready to be written. Without text and stream it has no content. */
export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, unless the headers name another type. */
  readonly text?: string | undefined;
  readonly stream?: AsyncIterable<string | Buffer>;
}
