import Router from '@koa/router';
import type { Service } from './app.ts';
import type { Call } from './call.ts';
import { Call as RouteCall } from './call.ts';
import { apiError } from './envelope.ts';

export const spacePrefix = '/v1/spaces/';

/** A request's route and the path parameters as sent. */
export interface Match {
  readonly call: Call;
  readonly params: Record<string, string>;
}

/**
 * Finds the route of a request. The patterns are @koa/router's; asking it to match one of all routes costs more than
 * everything else in a request, so there is a router for each first segment and length, of a few routes each.
 */
export class RouteTable {
  readonly #routers = new Map<string, Router>();
  readonly #calls = new Map<unknown, Call>();

  constructor(service: Service) {
    for (const route of service.routes) {
      const pattern = `${spacePrefix}:spaceId${route.path}`;
      const shape = shapeOf(pattern);
      let router = this.#routers.get(shape);
      if (!router) {
        router = new Router({ strict: true, sensitive: true });
        this.#routers.set(shape, router);
      }
      const layer = router.register(pattern, [route.method], () => undefined);
      this.#calls.set(layer, new RouteCall(route, pattern, service));
    }
  }

  /** Throws ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED. */
  match(method: string, path: string): Match {
    const found = this.#routers.get(shapeOf(path))?.match(path, method);
    const [layer] = found?.pathAndMethod ?? [];
    const call = this.#calls.get(layer);
    if (layer && call) return { call, params: layer.params(path, layer.captures(path)) };
    const methods = [...new Set(found?.path.flatMap((other) => other.methods))].sort().join(', ');
    throw methods === ''
      ? apiError({}, 'ROUTE_NOT_FOUND')
      : apiError({}, 'METHOD_NOT_ALLOWED', methods, { Allow: methods });
  }
}

/** The first segment below the space and the number of segments: a pattern and the paths it matches share them. */
function shapeOf(path: string): string {
  const segments = path.split('/');
  return `${segments[4]} ${segments.length}`;
}
