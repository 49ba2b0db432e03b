import { textOf } from './error.ts';
import type { CallOptions } from './types.ts';

interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
  readonly traceState?: { serialize(): string };
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

interface Link {
  readonly context: SpanContext;
}

interface Span {
  spanContext(): SpanContext;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { readonly code: number; readonly message: string }): unknown;
  recordException(error: Error): unknown;
  addLinks?(links: readonly Link[]): unknown;
  end(): void;
}

interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
  deleteValue(key: symbol): Context;
}

interface SpanOptions {
  readonly kind: number;
  readonly attributes: Attributes;
  readonly links?: readonly Link[];
}

/** The OpenTelemetry API's registrations in a program. */
interface Registered {
  readonly trace?: {
    getTracer(name: string): { startSpan(name: string, options: SpanOptions, context: Context): Span };
  };
  readonly context?: { active(): Context; with<T>(context: Context, work: () => T): T };
}

/**
 * The global symbol under which all copies of the API since 1.0 share their registrations. They are looked up instead
 * of imported, so that the API need not be installed, and bundlers and package managers do not look for it.
 */
const registeredKey = Symbol.for('opentelemetry.js.api.1');
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN');
/** Instrumentations of fetch skip a context with this key: the call already has a span and a traceparent. */
const suppressKey = Symbol.for('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** The API's values. */
const kinds = { client: 2, producer: 3, consumer: 4 } as const;
const failed = 2;
const tracerName = 'muster-client';

/** Calls that are operations of https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/. */
const messaging: Readonly<Record<string, { readonly type: string; readonly kind: number }>> = {
  'message.send': { type: 'send', kind: kinds.producer },
  'task.submit': { type: 'send', kind: kinds.producer },
  'message.recv': { type: 'receive', kind: kinds.client },
  'message.complete': { type: 'settle', kind: kinds.client },
  'message.nack': { type: 'settle', kind: kinds.client },
};

const registered = (): Registered => (globalThis as { [registeredKey]?: Registered })[registeredKey] ?? {};

/** A context for a program without a context manager. */
class Values implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;
  constructor(values: ReadonlyMap<symbol, unknown> = new Map()) {
    this.#values = values;
  }
  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }
  setValue(key: symbol, value: unknown): Context {
    return new Values(new Map([...this.#values, [key, value]]));
  }
  deleteValue(key: symbol): Context {
    return new Values(new Map([...this.#values].filter(([other]) => other !== key)));
  }
}

const active = (): Context => registered().context?.active() ?? new Values();

function within<T>(context: Context, work: () => T): T {
  const manager = registered().context;
  return manager ? manager.with(context, work) : work();
}

/** Does work outside the active span, if any. */
export function untraced<T>(work: () => T): T {
  return within(active().deleteValue(spanKey), work);
}

/** The trace of a call, as headers of W3C Trace Context. */
type TraceContext = Pick<CallOptions, 'traceparent' | 'tracestate'>;

type Headers = Readonly<Record<string, string>>;

function headersOf({ traceparent, tracestate }: TraceContext): Headers {
  if (!traceparent) return {};
  return { traceparent, ...(tracestate && { tracestate }) };
}

function traceContextOf(span: Span): TraceContext {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  if (/^0*$/.test(traceId)) return {};
  const flags = traceFlags.toString(16).padStart(2, '0');
  return { traceparent: `00-${traceId}-${spanId}-${flags}`, tracestate: traceState?.serialize() };
}

function remote({ traceparent, tracestate }: TraceContext): SpanContext | undefined {
  const [, traceId, spanId, flags] = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  const kept = tracestate ? { traceState: stateOf(tracestate) } : {};
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true, ...kept };
}

/** A tracestate that is passed on unchanged. */
function stateOf(tracestate: string) {
  const state = { serialize: () => tracestate, get: () => undefined, set: () => state, unset: () => state };
  return state;
}

const behind = (parent: SpanContext | undefined, context: Context): Context =>
  parent ? context.setValue(spanKey, { spanContext: () => parent }) : context;

function fail(span: Span, error: unknown): void {
  const { name, message } = error instanceof Error ? error : { name: typeof error, message: textOf(error) };
  const code = (error as { code?: unknown } | null | undefined)?.code ?? name;
  span.setAttributes({ 'error.type': String(code) });
  span.setStatus({ code: failed, message });
  if (error instanceof Error) span.recordException(error);
}

interface CallSpan {
  /** `message.send` */
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly url: string | undefined;
}

/** Makes a call in its own span, and sets the trace headers for it. */
export async function inCallSpan<T>(
  call: CallSpan,
  given: TraceContext,
  make: (headers: Headers) => Promise<T>,
): Promise<T> {
  const tracer = registered().trace?.getTracer(tracerName);
  if (!tracer) return make(headersOf(given));
  const { name, kind, attributes } = describe(call);
  const context = behind(remote(given), active());
  const span = tracer.startSpan(name, { kind, attributes }, context);
  try {
    const inside = context.setValue(spanKey, span).setValue(suppressKey, true);
    const own = traceContextOf(span);
    const answer = await within(inside, () => make(headersOf(own.traceparent ? own : given)));
    if (name !== call.name) addMessages(span, answer);
    return answer;
  } catch (error) {
    fail(span, error);
    throw error;
  } finally {
    span.end();
  }
}

function describe({ name, args, url }: CallSpan) {
  const server = serverOf(url);
  const operation = messaging[name];
  if (!operation) return { name, kind: kinds.client, attributes: server };
  const verb = name.slice(name.indexOf('.') + 1);
  const attributes = { ...server, ...ofMessage(verb, operation.type, args['mailboxId'], args['messageId']) };
  return { name: spanName(verb, args['mailboxId']), kind: operation.kind, attributes };
}

/** Empty for a URL that the call itself will refuse. */
function serverOf(url = ''): Attributes {
  if (!URL.canParse(url)) return {};
  const { hostname, port, protocol } = new URL(url);
  return { 'server.address': hostname, 'server.port': Number(port) || (protocol === 'https:' ? 443 : 80) };
}

const spanName = (verb: string, mailboxId: unknown): string =>
  mailboxId === undefined ? verb : `${verb} ${String(mailboxId)}`;

function ofMessage(verb: string, type: string, mailboxId: unknown, messageId: unknown): Attributes {
  return {
    'messaging.system': 'muster',
    'messaging.operation.name': verb,
    'messaging.operation.type': type,
    ...(mailboxId !== undefined && { 'messaging.destination.name': String(mailboxId) }),
    ...(messageId !== undefined && { 'messaging.message.id': String(messageId) }),
  };
}

/** The fields of a message for its span. */
interface Message {
  readonly id: string;
  readonly messageId?: string;
  readonly mailboxId: string;
  readonly attempt: number;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
}

/** Adds the sent or received messages to the span, and links it to the spans that sent the received ones. */
function addMessages(span: Span, answer: unknown): void {
  if (typeof answer !== 'object' || answer === null) return;
  const { messages } = answer as { messages?: readonly Message[] };
  const received = messages ?? [answer as Message];
  if (messages) span.setAttributes({ 'messaging.batch.message_count': messages.length });
  else span.setAttributes({ 'messaging.message.id': (answer as Message).messageId ?? (answer as Message).id });
  span.addLinks?.(received.flatMap(linksOf));
}

function linksOf({ traceparent, tracestate }: Pick<Message, 'traceparent' | 'tracestate'>): Link[] {
  const context = remote({ traceparent: traceparent ?? undefined, tracestate: tracestate ?? undefined });
  return context ? [{ context }] : [];
}

/** The span of an attempt, if any. */
export interface Attempt {
  /** The trace for messages that the attempt publishes: its span, or else the trace of the message's send. */
  readonly traceContext: TraceContext;
  /** Does work of the attempt. */
  run<T>(work: () => T): T;
  failed(error: unknown): void;
  end(): void;
}

/** Starts the span of an attempt, which continues the trace of the message's send and is linked to it. */
export function beginAttempt(message: Message): Attempt {
  const { id, mailboxId, attempt } = message;
  const sent = { traceparent: message.traceparent ?? undefined, tracestate: message.tracestate ?? undefined };
  const tracer = registered().trace?.getTracer(tracerName);
  if (!tracer) return { traceContext: sent, run: (work) => work(), failed: () => undefined, end: () => undefined };
  const attributes = { ...ofMessage('process', 'process', mailboxId, id), 'muster.message.attempt': attempt };
  const context = behind(remote(sent), active().deleteValue(spanKey));
  const options = { kind: kinds.consumer, attributes, links: linksOf(message) };
  const span = tracer.startSpan(spanName('process', mailboxId), options, context);
  const own = traceContextOf(span);
  return {
    traceContext: own.traceparent ? own : sent,
    run: (work) => within(context.setValue(spanKey, span), work),
    failed: (error) => fail(span, error),
    end: () => span.end(),
  };
}
