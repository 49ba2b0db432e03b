import { randomUUID } from 'node:crypto';
import type { OutgoingHttpHeader, Server } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Koa, { type Context } from 'koa';
import { Refusal, StoreUnavailable } from '../redis/scripts.ts';
import { readBody } from './body.ts';
import { envelope, toApiError } from './envelope.ts';
import { bodyMethods, statusOf } from './route-errors.ts';
import { RouteTable, spacesPath } from './router.ts';
import { createHttpServer } from './server.ts';
import type { Sent, Service, Trace } from './serving.ts';
import { system } from './system.ts';

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** The HTTP side of the service: Koa maps each route record to its script. */
export function createApp(service: Service): Server {
  const app = new Koa();
  const routes = new RouteTable(service);

  app.use(async (ctx) => {
    const start = performance.now();
    const { req } = ctx;
    const given = req.headers['x-request-id'];
    const requestId = typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID();
    const trace: Trace = { route: undefined, log: service.log };
    let answer: Sent;
    try {
      const path = pathOf(req.url ?? '');
      if (path === spacesPath || path.startsWith(`${spacesPath}/`)) {
        const { call, params } = routes.match(req.method ?? '', path);
        trace.route = call.pattern;
        trace.log = call.log;
        if (bodyMethods.has(call.route.method)) await readBody(ctx);
        answer = await call.handle(ctx, params, requestId);
      } else answer = await system(ctx, service, trace);
    } catch (error) {
      answer = failure(error, requestId, service, trace);
    }
    // Shutting down: the connection ends with this answer.
    if (!server.listening) ctx.res.shouldKeepAlive = false;
    send(ctx, answer, requestId);
    const durationMs = performance.now() - start;
    service.metrics.traffic.request(trace.route ?? 'unmatched', ctx.method, answer.status, durationMs / 1000);
    trace.log.info({
      requestId,
      method: req.method,
      status: answer.status,
      durationMs: Math.round(durationMs * 100) / 100,
      code: trace.code,
      why: trace.why,
    });
  });
  // The middleware answers every error itself; what is left is a response that could not be written.
  app.on('error', (error: Error) => service.log.warn({ error: error.message }, 'response failed'));

  const server = createHttpServer(app.callback());
  return server;
}

/** Koa's own takes the whole target apart. */
function pathOf(target: string): string {
  const end = target.search(/[?#]/);
  return end < 0 ? target : target.slice(0, end);
}

/** Written in one go: Koa's own way sets each header by itself and looks the type up again. */
function send(ctx: Context, answer: Sent, requestId: string): void {
  ctx.respond = false;
  const { res } = ctx;
  const { text, content, stream } = answer;
  const body = text ?? content;
  // A list of names and values: an object would be made, and taken apart again, for each answer.
  const head: OutgoingHttpHeader[] = ['X-Request-Id', requestId, 'X-API-Version', '1'];
  for (const name in answer.headers) head.push(name, answer.headers[name] ?? '');
  if (stream) head.push('Content-Type', 'text/event-stream', 'Cache-Control', 'no-store');
  else if (text !== undefined && answer.headers['Content-Type'] === undefined)
    head.push('Content-Type', 'application/json; charset=utf-8');
  if (body !== undefined) head.push('Content-Length', Buffer.byteLength(body));
  // What was not read of a refused body must not be taken for the next request.
  if (!stream && !ctx.req.complete) head.push('Connection', 'close');
  res.writeHead(answer.status, head);
  if (ctx.req.method === 'HEAD') res.end();
  // It ends with the connection; what broke it off is the other side's affair.
  else if (stream) pipeline(Readable.from(stream, { objectMode: false }), res).catch(() => undefined);
  else res.end(body);
}

function failure(thrown: unknown, requestId: string, service: Service, trace: Trace): Sent {
  const { route } = trace;
  const error = toApiError(thrown, service.errors);
  trace.code = error.code;
  if (thrown instanceof StoreUnavailable) trace.why = thrown.message;
  service.metrics.traffic.refusal(error.code);
  if (error.status === 500) {
    trace.log.error(
      { requestId, error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) },
      'internal error',
    );
  }
  const status =
    thrown instanceof Refusal && route !== undefined ? statusOf(service.errors, error.code, route) : error.status;
  return { status, headers: error.headers, text: envelope(error, requestId) };
}
