import { isUuid } from '../../engine/route/fields.ts';
import { readTrace, traceIdOf } from '../../engine/route/trace.ts';
import { type LineLevel, logText } from '../../log.ts';
import type { Context, Step } from './context.ts';
import { probePaths } from './probes.ts';
import type { HttpService } from './service.ts';

/** Logs and counts each request once its answer is known, a stream when it starts. */
export function accessLog({ log, metrics }: HttpService): Step {
  return async (ctx, next) => {
    const start = performance.now();
    const { state } = ctx;
    state.log = log;
    await next();
    const status = state.answer?.status ?? ctx.status;
    const durationMs = performance.now() - start;
    metrics.traffic.request(state.route ?? 'unmatched', ctx.method, status, durationMs / 1000);
    logText(state.log, levelOf(status, state.route), membersOf(ctx, status, durationMs));
  };
}

/** Load balancers and Prometheus probe every few seconds, so only their failures are logged. */
function levelOf(status: number, route: string | undefined): LineLevel {
  if (status >= 500) return 'error';
  return status < 400 && probePaths.has(route ?? '') ? 'debug' : 'info';
}

/** The members of a log line as JSON. Only `path` and `reason` may contain characters to escape. */
function membersOf({ method, path, state, req }: Context, status: number, durationMs: number): string {
  const { requestId, match, caller, calls, refused, code, reason, traceId = traceIdOf(readTrace(req.headers)) } = state;
  let members = `,"requestId":"${requestId}","method":"${method}","status":${status}`;
  members += `,"durationMs":${Math.round(durationMs * 100) / 100}`;
  if (traceId !== '') members += `,"traceId":"${traceId}"`;
  if (match) members += idsOf(match.params);
  else if (state.route === undefined) members += `,"path":${JSON.stringify(shownPath(path))}`;
  if (calls !== undefined) members += `,"calls":${calls}`;
  if (refused !== undefined) members += `,"refused":${JSON.stringify(refused)}`;
  if (caller?.actor !== undefined) members += `,"actor":"${caller.actor}"`;
  if (code !== undefined) members += `,"code":"${code}"`;
  if (reason !== undefined) members += `,"reason":${JSON.stringify(reason)}`;
  return members;
}

/** Too short for a secret that is in a path by mistake, but long enough for an id. */
const longestShown = 36;
const mostShown = 10;

/** An unknown path without possible secrets. */
function shownPath(path: string): string {
  const parts = path.split('/', mostShown + 1);
  return parts.map((part) => (part.length > longestShown ? '…' : part)).join('/');
}

/** The ids in the path, by name. Other parameters are left out, as they may have any content and length. */
function idsOf(params: Readonly<Record<string, string>>): string {
  let ids = '';
  for (const name in params) {
    const value = params[name] ?? '';
    if (isUuid(value)) ids += `,"${name}":"${value.toLowerCase()}"`;
  }
  return ids;
}
