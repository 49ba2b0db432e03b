import { isUuid } from '../call/fields.ts';
import type { Step } from './context.ts';
import type { HttpService } from './service.ts';
import { probePaths } from './system.ts';

/** Logs and counts each request once its answer is known; a stream when it starts. */
export function accessLog({ log, metrics }: HttpService): Step {
  return async (ctx, next) => {
    const start = performance.now();
    const { state } = ctx;
    state.log = log;
    await next();
    const status = state.answer?.status ?? ctx.status;
    const durationMs = performance.now() - start;
    metrics.traffic.request(state.route ?? 'unmatched', ctx.method, status, durationMs / 1000);
    const line = {
      requestId: state.requestId,
      method: ctx.method,
      status,
      durationMs: Math.round(durationMs * 100) / 100,
      ...(state.match && idsOf(state.match.params)),
      calls: state.calls,
      refused: state.refused,
      code: state.code,
      reason: state.reason,
    };
    // Load balancers and Prometheus probe every few seconds: only failures are worth a line.
    if (status < 400 && probePaths.has(state.route ?? '')) state.log.debug(line);
    else state.log.info(line);
  };
}

/** The ids in the path, by name. Anything else is left out: it may have any content and length. */
function idsOf(params: Readonly<Record<string, string>>): Record<string, string> {
  const ids: Record<string, string> = {};
  for (const name in params) {
    const value = params[name] ?? '';
    if (isUuid(value)) ids[name] = value.toLowerCase();
  }
  return ids;
}
