import { Operation } from '../call/operation.ts';
import type { Handler } from './context.ts';
import { handlerOf } from './http-call.ts';
import type { HttpService } from './service.ts';

const spaces = '/v1/spaces';

/** The handlers of all paths of the API. */
export function handlersOf(service: HttpService): readonly Handler[] {
  const inSpaces = service.routes.map((route) => [route, `${spaces}/:spaceId${route.path}`] as const);
  const outside = service.spacelessRoutes.map((route) => [route, `${spaces}${route.path}`] as const);
  const operations = [...inSpaces, ...outside].flatMap(([route, pattern]) =>
    route.gateway ? [] : new Operation(route, pattern, service),
  );
  const byCall = new Map(operations.map((operation) => [operation.route.call, operation]));
  return [...operations.map(handlerOf), ...service.gateways.map((gateway) => gateway(service, byCall))];
}
