import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import Router from '@koa/router';
import Koa, { type Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Logger } from 'pino';
import type { Due } from '../redis/due.ts';
import type { Scripts } from '../redis/scripts.ts';
import type { Wake } from '../redis/wake.ts';
import { Call } from './call.ts';
import { apiError, envelope, toApiError } from './envelope.ts';
import { ApiError, type ErrorTable } from './errors.ts';
import type { Route } from './route.ts';

export interface Service {
  readonly scripts: Scripts;
  readonly due: Due;
  readonly wake: Wake;
  readonly log: Logger;
  readonly routes: readonly Route[];
  readonly errors: ErrorTable;
  /** The text of GET /openapi.json. */
  readonly openapi: string;
  /** Whether the store takes calls: GET /readyz. */
  readonly ready: () => Promise<boolean>;
}

const spacePrefix = '/v1/spaces/';
const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;
const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

/** What a request leaves for its log line. */
interface Trace {
  requestId: string;
  route?: string;
  script?: string;
}

/** The HTTP side of the service: Koa maps each route record to its script. */
export function createApp(service: Service): Server {
  const app = new Koa();
  const parse = bodyParser({ enableTypes: ['json'], jsonLimit: '256kb' });
  const routers = mount(service, parse);

  app.use(async (ctx) => {
    const start = performance.now();
    const given = ctx.headers['x-request-id'];
    const trace: Trace = { requestId: typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID() };
    ctx.state = trace;
    ctx.set('X-Request-Id', trace.requestId);
    ctx.set('X-API-Version', '1');
    try {
      await dispatch(ctx, service, routers);
    } catch (error) {
      fail(ctx, service, error);
    }
    service.log.info({
      requestId: trace.requestId,
      method: ctx.method,
      route: trace.route,
      status: ctx.status,
      durationMs: Math.round((performance.now() - start) * 100) / 100,
      script: trace.script,
    });
  });
  // The middleware answers every error itself; what is left is a response that could not be written.
  app.on('error', (error: Error) => service.log.warn({ error: error.message }, 'response failed'));

  const server = createServer({ maxHeaderSize: 16_384, requestTimeout: 60_000, headersTimeout: 20_000 }, app.callback());
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy();
      return;
    }
    const tooLarge = error.code === 'HPE_HEADER_OVERFLOW';
    const [status, message] = tooLarge ? ['431 Request Header Fields Too Large', 'the headers are larger than 16 KiB'] : ['400 Bad Request', 'not a valid HTTP/1.1 request'];
    const requestId = randomUUID();
    const body = envelope(new ApiError(400, 'VALIDATION_FAILED', message ?? ''), requestId);
    socket.end(`HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${requestId}\r\nX-API-Version: 1\r\nConnection: close\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });
  return server;
}

/** One small router per first path segment below a space: matching tries a handful of paths, not all of them. */
function mount(service: Service, parse: Koa.Middleware): Map<string, Koa.Middleware> {
  const routers = new Map<string, Router>();
  for (const route of service.routes) {
    const segment = route.path.split('/', 2)[1] ?? '';
    let router = routers.get(segment);
    if (!router) {
      router = new Router({ prefix: `${spacePrefix}:spaceId`, strict: true, sensitive: true });
      routers.set(segment, router);
    }
    const call = new Call(route, service);
    const pattern = `${spacePrefix}:spaceId${route.path}`;
    const handle = async (ctx: Context): Promise<void> => {
      const trace = ctx.state as Trace;
      trace.route = pattern;
      trace.script = route.script;
      await call.handle(ctx, (ctx as Context & { params: Record<string, string> }).params, trace.requestId);
    };
    if (bodyMethods.has(route.method)) router.register(route.path, [route.method], [requireJson, parse, handle] as never);
    else router.register(route.path, [route.method], [handle] as never);
  }
  return new Map([...routers].map(([segment, router]) => [segment, router.routes() as unknown as Koa.Middleware]));
}

/** 415 before the body is read; a request without a body needs no content type. */
async function requireJson(ctx: Context, next: () => Promise<void>): Promise<void> {
  const { headers } = ctx;
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
  if (hasBody && !/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) throw apiError({}, 'UNSUPPORTED_MEDIA_TYPE');
  if (hasBody) return parseErrors(next);
  await next();
}

/** koa-bodyparser's own errors in our words; everything later passes through. */
async function parseErrors(next: () => Promise<void>): Promise<void> {
  try {
    await next();
  } catch (error) {
    const { type, status } = error as { type?: string; status?: number };
    if (error instanceof ApiError) throw error;
    if (type === 'entity.too.large') throw apiError({}, 'PAYLOAD_TOO_LARGE');
    if (type === 'encoding.unsupported' || status === 415) throw apiError({}, 'UNSUPPORTED_MEDIA_TYPE');
    if (status === 400) throw apiError({}, 'MALFORMED_JSON');
    throw error;
  }
}

async function dispatch(ctx: Context, service: Service, routers: Map<string, Koa.Middleware>): Promise<void> {
  const { path } = ctx;
  if (path.startsWith(spacePrefix)) {
    const segment = path.split('/', 5)[4] ?? '';
    const router = routers.get(segment);
    if (!router) throw apiError({}, 'ROUTE_NOT_FOUND');
    let handled = true;
    await router(ctx, async () => {
      handled = false;
    });
    if (!handled) throw unmatched(ctx);
    return;
  }
  await system(ctx, service);
}

/** No route of this path takes the method (405), or there is no such path (404). */
function unmatched(ctx: Context): ApiError {
  const matched = (ctx as Context & { matched?: { methods: string[] }[] }).matched ?? [];
  const methods = [...new Set(matched.flatMap((layer) => layer.methods))].sort().join(', ');
  return methods === '' ? apiError({}, 'ROUTE_NOT_FOUND') : apiError({}, 'METHOD_NOT_ALLOWED', methods, { Allow: methods });
}

/** The paths that need no key. */
async function system(ctx: Context, service: Service): Promise<void> {
  const trace = ctx.state as Trace;
  if (!['/healthz', '/readyz', '/openapi.json'].includes(ctx.path)) throw apiError({}, 'ROUTE_NOT_FOUND');
  trace.route = ctx.path;
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw apiError({}, 'METHOD_NOT_ALLOWED', 'GET, HEAD', { Allow: 'GET, HEAD' });
  ctx.type = 'json';
  if (ctx.path === '/openapi.json') ctx.body = service.openapi;
  else if (ctx.path === '/healthz') ctx.body = '{"status":"ok"}';
  else if (await service.ready()) ctx.body = '{"status":"ready"}';
  else throw apiError({}, 'STORE_UNAVAILABLE', '', { 'Retry-After': '1' });
}

function fail(ctx: Context, service: Service, thrown: unknown): void {
  const { requestId } = ctx.state as Trace;
  const error = toApiError(thrown, service.errors);
  if (error.status === 500) {
    service.log.error({ requestId, error: thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown) }, 'internal error');
  }
  ctx.status = error.status;
  ctx.set(error.headers);
  if (error.code === 'INVALID_API_KEY') ctx.set('WWW-Authenticate', 'Bearer error="invalid_token"');
  ctx.type = 'json';
  ctx.body = envelope(error, requestId);
}
