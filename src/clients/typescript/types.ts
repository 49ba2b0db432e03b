import type { MusterError } from './error.ts';
import type { components, operations } from './generated/openapi.ts';

/** Any event of the journal; `type` determines its payload. */
export type Event = components['schemas']['Event'];

/** The type of an event: `message.acked`. */
export type EventType = Event['type'];

/** An event's type, or all types of a kind: `message.*`. */
export type EventFilter = EventType | `${Event['aggregate']}.*`;

/** The events that a filter matches; without one, all. */
export type EventOf<F extends EventFilter> = [F] extends [never]
  ? Event
  : Extract<Event, { type: F } | (F extends `${infer Kind}.*` ? { aggregate: Kind } : never)>;

/** The options of `muster.events`. */
export interface JournalOptions<F extends EventFilter = never> {
  /** Only these types; default all. */
  readonly types?: readonly F[] | undefined;
  /** Only these kinds, comma-separated, or one object: `message:<id>`. */
  readonly aggregate?: string | undefined;
  /** Only this scope and those below it. */
  readonly scopeId?: string | undefined;
  /** Where to start: a journal's cursor, or `latest` for events from now on; default the oldest event, of a scope its creation. */
  readonly cursor?: string | undefined;
  /** Where to start without a cursor: at this time. */
  readonly since?: Date | string | undefined;
  /** Ends the iteration. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborts the call, including retries. */
  readonly signal?: AbortSignal | undefined;
  /** Replaces the generated key, for retries of your own, even after a restart. */
  readonly idempotencyKey?: string | undefined;
  /** For how long the call is repeated, instead of the client's setting; 0 means no retries. */
  readonly retrySeconds?: number | undefined;
  /** Maximum attempts, instead of the client's setting; 1 means no retries. */
  readonly attempts?: number | undefined;
  /** The call's trace, as in W3C Trace Context; by default OpenTelemetry's active span, if any. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** The name of a call: `message.send`. */
export type CallName = keyof operations;

type Flat<T> = { [K in keyof T]: T[K] };
// biome-ignore lint/complexity/noBannedTypes: the neutral element of an intersection.
type Nothing = {};
type Part<T> = [NonNullable<T>] extends [never] ? Nothing : NonNullable<T>;
type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : Nothing;
/** A call without a body has a schema that allows no fields. */
type Fields<T> = T extends Record<string, never> ? Nothing : T;
type BodyOf<T> = T extends { requestBody?: infer Body } ? Fields<Json<Part<Body>>> : Nothing;

/** In a batch: the id, or another member, in the answer of the call at this index. */
export interface From {
  readonly $from: number;
  readonly member?: string;
}

/**
 * A prerequisite of a message: a message's id; the answer of a send, a submit or the creation of a group; or an earlier call
 * of the batch.
 */
export type After =
  | string
  | From
  | { readonly messageId: string | From }
  | { readonly groupId: string | From }
  | { readonly scopeId: string | From }
  | { readonly id: string | From };

type WithPrerequisites<T> = 'after' extends keyof T
  ? Omit<T, 'after'> & { readonly after?: readonly After[] | null | undefined }
  : T;

type AllArgs<Name extends CallName> = Part<operations[Name]['parameters']['path']> &
  Part<operations[Name]['parameters']['query']> &
  WithPrerequisites<BodyOf<operations[Name]>>;

/**
 * A call's path parameters, query parameters and body fields in one object; `With` requires fields, `Without` excludes
 * them.
 */
export type Args<Name extends CallName, With extends string = never, Without extends string = never> = Chosen<
  AllArgs<Name>,
  With,
  Without
>;

/** Distributes over calls: keys of all calls together would be too large a union. */
type Chosen<T, With extends string, Without extends string> = T extends unknown
  ? Flat<Omit<T, With | Without> & Needed<T, With> & { [K in Without]?: undefined }>
  : never;

type Needed<T, With extends string> = { [K in keyof T as K extends With ? K : never]-?: NonNullable<T[K]> };

type Responses<Name extends CallName> = operations[Name]['responses'];
type Success<T> = T extends { content: { 'application/json': infer Body } } ? Body : undefined;

/** The list in the answer of a call that answers one record or a list. */
export type ListOf<T> = Extract<T, { messages: unknown } | undefined>;
export type OneOf<T> = Exclude<T, { messages: unknown }>;

/** A call's response body; undefined without content. */
export type Answer<Name extends CallName> = Success<Responses<Name>[keyof Responses<Name>]>;

/**
 * `T` with `Payload` as the type of payloads and inputs, and `Result` as the type of results and outcomes. The service
 * stores these values as sent and never reads them.
 */
export type Typed<T, Payload, Result> = T extends (infer Item)[]
  ? Typed<Item, Payload, Result>[]
  : T extends readonly (infer Item)[]
    ? readonly Typed<Item, Payload, Result>[]
    : T extends object
      ? { [K in keyof T]: TypedField<K, T[K], Payload, Result> }
      : T;

type TypedField<K, T, Payload, Result> = unknown extends T
  ? K extends 'payload' | 'input'
    ? Payload
    : K extends 'result' | 'outcome'
      ? Result | null
      : T
  : K extends 'result'
    ? Typed<T, Result, Result>
    : Typed<T, Payload, Result>;

/** In a batch, an id may refer to the answer of an earlier call, except within opaque values. */
type WithFrom<T> = {
  [K in keyof T]: K extends `${string}Id` ? T[K] | From : K extends 'requires' | 'result' ? FromInside<T[K]> : T[K];
};
type FromInside<T> = T extends readonly (infer One)[]
  ? readonly FromInside<One>[]
  : T extends object
    ? { [K in keyof T]: K extends `${string}Id` ? T[K] | From : FromInside<T[K]> }
    : T;

/** The arguments of a call in a batch, where a receive does not wait. */
export type BatchedArgs<Name extends CallName, With extends string = never, Without extends string = never> = WithFrom<
  Omit<Args<Name, With, Without>, 'waitSeconds'>
>;

/** Options of a call in a batch. */
export type BatchedOptions = Pick<CallOptions, 'idempotencyKey'>;

/** Members of an answer that can be compared. */
type Comparable<T> = {
  readonly [K in keyof T]?: T[K] extends string | null
    ? T[K] | (K extends 'id' | `${string}Id` ? From : never)
    : T[K] extends number | boolean | string | null
      ? T[K]
      : never;
};

/**
 * The expected members of a call's answer, compared exactly. If one differs, the whole batch is refused (EXPECTATION_FAILED).
 */
export type Expectation<T> = Comparable<Omit<T, 'balances' | 'counts'>> & {
  readonly [K in keyof T & ('balances' | 'counts')]?: Comparable<T[K]>;
};

/** Options of a call in an atomic batch. */
export interface AtomicOptions<T> {
  readonly expect?: Expectation<NonNullable<T>> | undefined;
}

/** A call of an atomic batch that has not been made yet. The ids of its answer can already be used. */
export type PendingCall<T> = BatchedCall<T> & {
  readonly [K in keyof NonNullable<T> & ('id' | `${string}Id`)]: From;
};

/** The answers of pending calls: of one call, or of the calls in an object or a list. */
export type AtomicAnswers<R> =
  R extends BatchedCall<infer T> ? T : { -readonly [K in keyof R]: R[K] extends BatchedCall<infer T> ? T : R[K] };

declare const answered: unique symbol;

/** A call for `muster.batch`, made by `muster.call`. Its answer is `T`. */
export interface BatchedCall<T = unknown> {
  readonly call: string;
  readonly [answered]?: T;
}

/** The outcome of a call in a batch. */
export type BatchResult<T> =
  | { readonly ok: true; readonly status: number; readonly answer: T; readonly replayed: boolean }
  | { readonly ok: false; readonly status: number; readonly error: MusterError };

/** The results of calls, in order. */
export type BatchResults<Calls extends readonly BatchedCall[]> = {
  -readonly [K in keyof Calls]: BatchResult<Calls[K] extends BatchedCall<infer T> ? T : never>;
};
