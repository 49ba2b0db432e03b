import type { Context } from 'koa';
import { Metrics } from '../metrics/metrics.ts';
import { StoreUnavailable } from '../redis/scripts.ts';
import { apiError } from './errors.ts';
import type { Sent, Service, Trace } from './serving.ts';
import type { Page } from './site.ts';

const probes = ['/healthz', '/readyz'];

/** Answers the paths that need no key. */
export async function system(ctx: Context, service: Service, trace: Trace): Promise<Sent> {
  // A port for metrics and probes has no API to describe or to show.
  const hasApi = service.routes.length > 0;
  const page = hasApi ? await pageAt(ctx, service) : undefined;
  const isMetrics = ctx.path === '/metrics' && service.showsMetrics;
  const isDescription = ctx.path === '/openapi.json' && hasApi;
  if (!page && !isMetrics && !isDescription && !probes.includes(ctx.path)) throw apiError('ROUTE_NOT_FOUND');
  trace.route = page?.route ?? ctx.path;
  trace.log = service.log.child({ route: trace.route });
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
    throw apiError('METHOD_NOT_ALLOWED', 'GET, HEAD', { Allow: 'GET, HEAD' });
  if (page) return page;
  if (isMetrics)
    return { status: 200, headers: { 'Content-Type': Metrics.contentType }, text: await service.metrics.text() };
  if (isDescription) return { status: 200, headers: {}, text: service.openapi };
  if (ctx.path === '/healthz') return { status: 200, headers: {}, text: '{"status":"ok"}' };
  if (await service.ready()) return { status: 200, headers: {}, text: '{"status":"ready"}' };
  throw new StoreUnavailable('not ready');
}

async function pageAt({ path, req }: Context, { sites }: Service): Promise<Page | undefined> {
  for (const site of sites) {
    const page = await site.answer(path, req.headers);
    if (page) return page;
  }
  return undefined;
}
