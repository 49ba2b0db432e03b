import type { Context } from 'koa';
import type { ConsoleSite } from '../console/site.ts';
import { docsAnswer } from '../docs/answer.ts';
import { Metrics } from '../metrics/metrics.ts';
import type { Sent, Service, Trace } from './app.ts';
import { apiError } from './envelope.ts';

const paths = ['/healthz', '/readyz', '/openapi.json'];

/** Answers the paths that need no key. */
export async function system(ctx: Context, service: Service, site: ConsoleSite, trace: Trace): Promise<Sent> {
  const page = site.answer(ctx.path, ctx.req.headers['if-none-match']);
  const known = page ?? (await docsAnswer(ctx.path, ctx.req.headers));
  const isMetrics = ctx.path === '/metrics' && service.showsMetrics;
  if (!known && !isMetrics && !paths.includes(ctx.path)) throw apiError({}, 'ROUTE_NOT_FOUND');
  trace.route = page?.route ?? ctx.path;
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
    throw apiError({}, 'METHOD_NOT_ALLOWED', 'GET, HEAD', { Allow: 'GET, HEAD' });
  if (known) return known;
  if (isMetrics)
    return { status: 200, headers: { 'Content-Type': Metrics.contentType }, text: await service.metrics.text() };
  if (ctx.path === '/openapi.json') return { status: 200, headers: {}, text: service.openapi };
  if (ctx.path === '/healthz') return { status: 200, headers: {}, text: '{"status":"ok"}' };
  if (await service.ready().catch(() => false)) return { status: 200, headers: {}, text: '{"status":"ready"}' };
  throw apiError({}, 'STORE_UNAVAILABLE', '', { 'Retry-After': '1' });
}
