import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import type { Context as HttpContext, Step } from '../../doors/http/context.ts';
import { within } from '../../engine/redis/failures.ts';
import { Refusal } from '../../engine/redis/scripts.ts';
import { ApiError } from '../../engine/route/errors.ts';
import { readTrace, type TraceContext, traceIdOf } from '../../engine/route/trace.ts';
import { version } from '../../package.ts';
import { throttledWarning } from '../workers/throttled-log.ts';
import type { Tracing } from './tracing.ts';

/** How long the last spans may take to be exported at shutdown. */
const flushMs = 2_000;

/**
 * Exports spans by OTLP, as configured by OTEL_EXPORTER_OTLP_ENDPOINT and OpenTelemetry's other environment variables: a span
 * for each request and each run of a script. Loaded only if that variable is set.
 */
export function openTracing(log: Logger): Tracing {
  const warn = throttledWarning(log, 'spans could not be exported');
  const failed = (text: string): void => warn(new Error(text));
  const silent = (): void => undefined;
  diag.setLogger({ error: failed, warn: failed, info: silent, debug: silent, verbose: silent }, DiagLogLevel.WARN);
  const named = resourceFromAttributes({ 'service.name': 'muster', 'service.version': version });
  // Names from the environment win.
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }));
  const provider = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register();
  const tracer = trace.getTracer('muster', version);
  return {
    request: requestStep((name, attributes, parent) =>
      tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent),
    ),
    message: (given, name, work) => {
      const request = trace.getActiveSpan();
      const links = request ? [{ context: request.spanContext() }] : [];
      const parent = remoteContext(given);
      return inSpan(tracer.startSpan(name, { kind: SpanKind.SERVER, links }, parent), parent, work, 'error.type');
    },
    script: (name, run) => {
      const attributes = {
        'db.system.name': 'redis',
        'db.operation.name': 'FCALL',
        'db.stored_procedure.name': name,
      };
      const span = tracer.startSpan(`FCALL ${name}`, { kind: SpanKind.CLIENT, attributes });
      return inSpan(span, context.active(), run);
    },
    begin: (name, work) => {
      const span = tracer.startSpan(name, { kind: SpanKind.PRODUCER, root: true });
      return inSpan(span, ROOT_CONTEXT, () => work(traceparentOf(span)));
    },
    stop: () => within(flushMs, provider.shutdown()).catch(warn),
  };
}

function requestStep(startSpan: (name: string, attributes: Attributes, parent: Context) => Span): Step {
  return async (ctx, next) => {
    const attributes = { 'http.request.method': ctx.method, 'url.scheme': ctx.protocol };
    const parent = remoteContext(readTrace(ctx.req.headers));
    const span = startSpan(ctx.method, attributes, parent);
    ctx.state.traceId = span.spanContext().traceId;
    try {
      await context.with(trace.setSpan(parent, span), next);
    } finally {
      describe(span, ctx);
      span.end();
    }
  };
}

/** The path is left out: it may have any content, and the path of an answer page authorizes its reader. */
function describe(span: Span, { state, method, status }: HttpContext): void {
  const { route, answer, code, requestId } = state;
  const answered = answer?.status ?? status;
  if (route !== undefined) span.updateName(`${method} ${route}`).setAttribute('http.route', route);
  span.setAttributes({ 'http.response.status_code': answered, 'muster.request_id': requestId });
  if (code !== undefined) span.setAttribute('error.type', code);
  if (answered >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

/** A refusal is an answer, not a failure. refusedAs: the attribute for its code. */
async function inSpan<T>(
  span: Span,
  parent: Context,
  run: () => Promise<T>,
  refusedAs = 'db.response.status_code',
): Promise<T> {
  try {
    return await context.with(trace.setSpan(parent, span), run);
  } catch (error) {
    if (error instanceof Refusal || error instanceof ApiError) span.setAttribute(refusedAs, error.code);
    else {
      const { name, message } = error as Error;
      span.setAttribute('error.type', name).setStatus({ code: SpanStatusCode.ERROR, message });
    }
    throw error;
  } finally {
    span.end();
  }
}

function remoteContext({ traceparent, tracestate }: TraceContext): Context {
  if (traceparent === '') return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: traceIdOf({ traceparent }),
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53), 16),
    isRemote: true,
    ...(tracestate !== '' && { traceState: createTraceState(tracestate) }),
  });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
