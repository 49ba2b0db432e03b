import type { Server } from 'node:http';
import Koa from 'koa';
import compose from 'koa-compose';
import { apiError } from '../../engine/route/errors.ts';
import { accessLog } from './access-log.ts';
import { answerErrors } from './answer-errors.ts';
import { parseJson, requireJson, requireUtf8 } from './body.ts';
import type { App, Step } from './context.ts';
import { cors } from './cors.ts';
import { handlersOf } from './handlers.ts';
import { home } from './home.ts';
import { description, metricsPage, probes } from './probes.ts';
import { routing } from './router.ts';
import { createHttpServer, requestIdOf } from './server.ts';
import type { HttpService } from './service.ts';
import { writeAnswer } from './write-answer.ts';

/** The service's HTTP server. Every request goes through these steps in this order. */
export function createApp(service: HttpService): Server {
  const app: App = new Koa();
  app.use(requestId);
  if (service.aroundRequest) app.use(service.aroundRequest);
  app.use(accessLog(service));
  app.use(writeAnswer(() => server.listening, service.givingBack));
  if (service.corsOrigins.size > 0) app.use(cors(service.corsOrigins));
  app.use(answerErrors(service));
  app.use(outsideOfApi(pagesOf(service)));
  app.use(routing(handlersOf(service)));
  app.use(requireJson);
  app.use(parseJson);
  app.use(requireUtf8);
  if (service.identify) app.use(service.identify);
  app.use(handle);
  // answerErrors handles all other errors. This is a response that could not be written.
  app.on('error', (error: Error) => service.log.warn({ error: error.message }, 'response failed'));
  const server = createHttpServer(app.callback());
  return server;
}

/** The steps of requests that are not calls. */
function pagesOf(service: HttpService): Step[] {
  const { showsMetrics, routes, sites } = service;
  const forPeople = [home, description(service), ...sites.map((site) => site.pages)];
  return [probes(service), ...(showsMetrics ? [metricsPage(service)] : []), ...(routes.length > 0 ? forPeople : [])];
}

/** Runs these steps only for requests outside the API. */
function outsideOfApi(steps: Step[]): Step {
  const all = compose(steps);
  return (ctx, next) => (ctx.req.url?.startsWith('/v1/') ? next() : all(ctx, next));
}

/** Has the matching handler answer. */
const handle: Step = async (ctx) => {
  const { match } = ctx.state;
  if (!match) throw apiError('ROUTE_NOT_FOUND');
  ctx.state.answer = await match.handler.handle(ctx, match.params);
};

/** Takes the caller's X-Request-Id, or generates one. */
const requestId: Step = (ctx, next) => {
  ctx.state.requestId = requestIdOf(ctx.req);
  return next();
};
