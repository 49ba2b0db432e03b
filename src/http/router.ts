import Router from '@koa/router';
import { Call } from './call.ts';
import { apiError } from './errors.ts';
import type { Service } from './serving.ts';

export const spacesPath = '/v1/spaces';
const spacePrefix = `${spacesPath}/`;

/** A request's route and the path parameters as sent. */
export interface Match {
  readonly call: Call;
  readonly params: Record<string, string>;
}

type Layer = ReturnType<Router['match']>['path'][number];

interface Entry {
  readonly layer: Layer;
  readonly call: Call;
}

/**
 * Finds the route of a request. The patterns are @koa/router's; asking it to match one of all routes costs more than
 * everything else in a request, so there is a router for each first segment and length, of a few routes each, and it
 * is asked only about what none of them takes.
 */
export class RouteTable {
  readonly #routers = new Map<string, Router>();
  readonly #entries = new Map<string, Entry[]>();

  constructor(service: Service) {
    const inSpace = service.routes.map((route) => [route, `${spacePrefix}:spaceId${route.path}`] as const);
    const others = service.spacelessRoutes.map((route) => [route, `${spacesPath}${route.path}`] as const);
    for (const [route, pattern] of [...inSpace, ...others]) {
      const shape = shapeOf(pattern);
      const router = this.#routers.get(shape) ?? new Router({ strict: true, sensitive: true });
      const layer = router.register(pattern, [route.method], () => undefined) as Layer;
      const entry = { layer, call: new Call(route, pattern, service) };
      this.#routers.set(shape, router);
      this.#entries.set(shape, [...(this.#entries.get(shape) ?? []), entry]);
    }
  }

  /** Throws ROUTE_NOT_FOUND or METHOD_NOT_ALLOWED. */
  match(method: string, path: string): Match {
    const shape = shapeOf(path);
    for (const { layer, call } of this.#entries.get(shape) ?? []) {
      if (!layer.methods.includes(method)) continue;
      const found = layer.regexp.exec(path);
      if (found) return { call, params: paramsOf(layer, path, found) };
    }
    const others = this.#routers.get(shape)?.match(path, method).path ?? [];
    const methods = [...new Set(others.flatMap((other) => other.methods))].sort().join(', ');
    throw methods === '' ? apiError('ROUTE_NOT_FOUND') : apiError('METHOD_NOT_ALLOWED', methods, { Allow: methods });
  }
}

function paramsOf(layer: Layer, path: string, found: RegExpExecArray): Record<string, string> {
  if (path.includes('%')) return layer.params(path, found.slice(1));
  // Nothing to decode: what was found is what was sent.
  const params: Record<string, string> = {};
  layer.paramNames.forEach(({ name }, index) => {
    params[name] = found[index + 1] ?? '';
  });
  return params;
}

/** The first segment below the space and the number of segments: a pattern and the paths it matches share them. */
function shapeOf(path: string): string {
  const segments = path.split('/');
  return `${segments[4]} ${segments.length}`;
}
