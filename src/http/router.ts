import Router from '@koa/router';
import { Batch, batchCall } from './batch.ts';
import type { Service, Step } from './context.ts';
import { Endpoint, type Handler } from './endpoint.ts';
import { apiError } from './errors.ts';
import type { Route } from './route.ts';

const spacesPath = '/v1/spaces';
const spacePrefix = `${spacesPath}/`;

/** The endpoint of a request and its path parameters, as sent. */
export interface Match {
  readonly endpoint: Handler;
  readonly params: Record<string, string>;
}

type Layer = ReturnType<Router['match']>['path'][number];

interface Candidate {
  readonly layer: Layer;
  readonly endpoint: Handler;
}

/** Finds the endpoint, or refuses the path or the method. */
export function routing(routes: RouteTable): Step {
  return (ctx, next) => {
    const { state } = ctx;
    const match = routes.match(ctx.method, ctx.path);
    state.match = match;
    state.route = match.endpoint.pattern;
    state.log = match.endpoint.log;
    return next();
  };
}

/**
 * Endpoints by path. The patterns are @koa/router's, but a router of all routes tries them one after the other, which
 * costs more than the rest of a request. So there is a router for each first segment and number of segments, of a few
 * routes each; it is asked only for the methods of a path that none of its routes matched.
 */
export class RouteTable {
  /** Those that answer one call each, by its name. */
  readonly endpoints = new Map<string, Endpoint>();
  readonly #routers = new Map<string, Router>();
  readonly #candidates = new Map<string, Candidate[]>();

  constructor(service: Service) {
    const inSpace = service.routes.map((route) => [route, `${spacePrefix}:spaceId${route.path}`] as const);
    const others = service.spacelessRoutes.map((route) => [route, `${spacesPath}${route.path}`] as const);
    for (const [route, pattern] of [...inSpace, ...others])
      this.add(route.method, this.#handler(route, pattern, service));
  }

  /** Answers the method at the endpoint's path. */
  add(method: string, endpoint: Handler): void {
    const { pattern } = endpoint;
    const shape = shapeOf(pattern);
    const router = this.#routers.get(shape) ?? new Router({ strict: true, sensitive: true });
    const layer = router.register(pattern, [method], () => undefined) as Layer;
    this.#routers.set(shape, router);
    this.#candidates.set(shape, [...(this.#candidates.get(shape) ?? []), { layer, endpoint }]);
  }

  #handler(route: Route, pattern: string, service: Service): Handler {
    if (route.call === batchCall) return new Batch(route, pattern, service, this.endpoints);
    const endpoint = new Endpoint(route, pattern, service);
    this.endpoints.set(route.call, endpoint);
    return endpoint;
  }

  /** Throws ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED. */
  match(method: string, path: string): Match {
    const shape = shapeOf(path);
    for (const { layer, endpoint } of this.#candidates.get(shape) ?? []) {
      if (!layer.methods.includes(method)) continue;
      const found = layer.regexp.exec(path);
      if (found) return { endpoint, params: paramsOf(layer, path, found) };
    }
    const others = this.#routers.get(shape)?.match(path, method).path ?? [];
    const methods = [...new Set(others.flatMap((other) => other.methods))].sort().join(', ');
    throw methods === '' ? apiError('ROUTE_NOT_FOUND') : apiError('METHOD_NOT_ALLOWED', methods, { Allow: methods });
  }
}

function paramsOf(layer: Layer, path: string, found: RegExpExecArray): Record<string, string> {
  if (path.includes('%')) return layer.params(path, found.slice(1));
  // Nothing to decode.
  const params: Record<string, string> = {};
  layer.paramNames.forEach(({ name }, index) => {
    params[name] = found[index + 1] ?? '';
  });
  return params;
}

/** The first segment below the space and the number of segments: the same for a pattern and the paths it matches. */
function shapeOf(path: string): string {
  const segments = path.split('/');
  return `${segments[4]} ${segments.length}`;
}
