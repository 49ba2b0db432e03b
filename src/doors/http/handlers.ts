import { Operation } from '../../engine/call/operation.ts';
import { isOfSpace, patternOf } from '../../engine/route/route.ts';
import type { Handler } from './context.ts';
import { handlerOf } from './http-call.ts';
import type { HttpService } from './service.ts';

export function handlersOf(service: HttpService): readonly Handler[] {
  const operations = [...service.routes, ...service.spacelessRoutes].flatMap((route) =>
    route.gateway ? [] : new Operation(route, patternOf(route), service),
  );
  // Gateways make calls in a space.
  const byCall = new Map(
    operations.flatMap((operation) => (isOfSpace(operation.route) ? [[operation.route.call, operation]] : [])),
  );
  return [...operations.map(handlerOf), ...service.gateways.map((gateway) => gateway(service, byCall))];
}
