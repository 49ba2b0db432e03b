import { Metrics } from '../../engine/metrics/metrics.ts';
import { apiError } from '../../engine/route/errors.ts';
import type { Context, Step } from './context.ts';
import type { HttpService } from './service.ts';
import { answerShared, madeOnce, sharedBody } from './shared-body.ts';

/** Load balancers and Prometheus request these every few seconds. */
export const probePaths: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Sets the route for logs and metrics. Throws METHOD_NOT_ALLOWED for anything but GET and HEAD. */
export function readOnly({ state, method }: Context, route: string): void {
  state.route = route;
  state.log = state.log.child({ route });
  if (method !== 'GET' && method !== 'HEAD') throw apiError('METHOD_NOT_ALLOWED', 'GET, HEAD', { Allow: 'GET, HEAD' });
}

/** GET /healthz: whether the process answers. GET /readyz: whether the store accepts calls. */
export function probes(service: HttpService): Step {
  return async (ctx, next) => {
    if (ctx.path !== '/healthz' && ctx.path !== '/readyz') return next();
    readOnly(ctx, ctx.path);
    const isReady = ctx.path === '/readyz';
    const unready = isReady ? await service.unready() : undefined;
    if (unready) throw unready;
    ctx.state.answer = { status: 200, headers: {}, text: isReady ? '{"status":"ready"}' : '{"status":"ok"}' };
  };
}

/** Made at most once a second, whoever asks: it needs no key. */
export function metricsPage({ metrics }: HttpService): Step {
  const page = madeOnce(metrics.maxAgeMs, async () =>
    sharedBody(Metrics.contentType, Buffer.from(await metrics.text())),
  );
  return async (ctx, next) => {
    if (ctx.path !== '/metrics') return next();
    readOnly(ctx, ctx.path);
    answerShared(ctx, await page());
  };
}

export function description(service: HttpService): Step {
  const document = madeOnce(Number.POSITIVE_INFINITY, async () =>
    sharedBody('application/json; charset=utf-8', Buffer.from(await service.openapi())),
  );
  return async (ctx, next) => {
    if (ctx.path !== '/openapi.json') return next();
    readOnly(ctx, ctx.path);
    answerShared(ctx, await document());
  };
}
