import type { IncomingMessage } from 'node:http';
import Router from '@koa/router';
import { apiError } from '../../engine/route/errors.ts';
import type { Handler, Match, Step } from './context.ts';

type Layer = ReturnType<Router['match']>['path'][number];

interface Candidate {
  readonly layer: Layer;
  readonly handler: Handler;
}

/** Finds the handler, or refuses an unknown path or method. */
export function routing(handlers: readonly Handler[]): Step {
  const routes = new RouteTable(handlers);
  return (ctx, next) => {
    const { state } = ctx;
    const match = routes.match(ctx.method, pathOf(ctx.req));
    state.match = match;
    state.route = match.handler.pattern;
    state.log = match.handler.log;
    return next();
  };
}

/** The same as `ctx.path`, for which Koa would parse the whole URL. */
function pathOf({ url = '' }: IncomingMessage): string {
  const end = url.search(/[?#]/);
  return end === -1 ? url : url.slice(0, end);
}

/**
 * Handlers by path. The patterns are @koa/router's, but one router for all routes would try them one by one, which costs more
 * than the rest of a request. So there is a small router for each first segment and number of segments. A router is asked
 * about other methods of a path only if none of its routes matched.
 */
class RouteTable {
  readonly #routers = new Map<string, Router>();
  readonly #candidates = new Map<string, Candidate[]>();

  constructor(handlers: readonly Handler[]) {
    for (const handler of handlers) {
      const { method, pattern } = handler;
      const shape = shapeOf(pattern);
      const router = this.#routers.get(shape) ?? new Router({ strict: true, sensitive: true });
      const layer = router.register(pattern, [method], () => undefined) as Layer;
      this.#routers.set(shape, router);
      this.#candidates.set(shape, [...(this.#candidates.get(shape) ?? []), { layer, handler }]);
    }
  }

  /** Throws ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED. */
  match(method: string, path: string): Match {
    const shape = shapeOf(path);
    for (const { layer, handler } of this.#candidates.get(shape) ?? []) {
      if (!layer.methods.includes(method)) continue;
      const found = layer.regexp.exec(path);
      if (found) return { handler, params: paramsOf(layer, path, found) };
    }
    const others = this.#routers.get(shape)?.match(path, method).path ?? [];
    const methods = [...new Set(others.flatMap((other) => other.methods))].sort().join(', ');
    throw methods === '' ? apiError('ROUTE_NOT_FOUND') : apiError('METHOD_NOT_ALLOWED', methods, { Allow: methods });
  }
}

function paramsOf(layer: Layer, path: string, found: RegExpExecArray): Record<string, string> {
  const isEncoded = path.includes('%');
  const params: Record<string, string> = {};
  layer.paramNames.forEach(({ name }, index) => {
    const part = found[index + 1] ?? '';
    params[name] = isEncoded ? decoded(part) : part;
  });
  return params;
}

/** '' if the part is not percent-encoded UTF-8, as no parameter may be empty. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

/** The first segment below the space and the number of segments: the same for a pattern and the paths it matches. */
function shapeOf(path: string): string {
  const segments = path.split('/');
  return `${segments[4]} ${segments.length}`;
}
