import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import Koa from 'koa';
import { apiError } from '../call/errors.ts';
import { accessLog } from './access-log.ts';
import { answerErrors } from './answer-errors.ts';
import { parseJson, requireJson, requireUtf8 } from './body.ts';
import type { App, Step } from './context.ts';
import { handlersOf } from './handlers.ts';
import { home } from './people.ts';
import { routing } from './router.ts';
import { createHttpServer } from './server.ts';
import type { HttpService } from './service.ts';
import { description, metricsPage, probes } from './system.ts';
import { writeAnswer } from './write-answer.ts';

/** The HTTP server of the service. Every request goes through these steps, in this order. */
export function createApp(service: HttpService): Server {
  const app: App = new Koa();
  app.use(requestId);
  app.use(accessLog(service));
  app.use(writeAnswer(() => server.listening));
  app.use(answerErrors(service));
  app.use(probes(service));
  if (service.showsMetrics) app.use(metricsPage(service));
  if (service.routes.length > 0) {
    app.use(home);
    app.use(description(service));
    for (const site of service.sites) app.use(site.pages);
  }
  app.use(routing(handlersOf(service)));
  app.use(requireJson);
  app.use(parseJson);
  app.use(requireUtf8);
  app.use(handle);
  // answerErrors handles all other errors: this is a response that could not be written.
  app.on('error', (error: Error) => service.log.warn({ error: error.message }, 'response failed'));
  const server = createHttpServer(app.callback());
  return server;
}

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** Has the handler answer that was found. */
const handle: Step = async (ctx) => {
  const { match } = ctx.state;
  if (!match) throw apiError('ROUTE_NOT_FOUND');
  ctx.state.answer = await match.handler.handle(ctx, match.params);
};

/** Takes the caller's X-Request-Id, or generates one. */
const requestId: Step = (ctx, next) => {
  const given = ctx.req.headers['x-request-id'];
  const id = typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID();
  ctx.state.requestId = id;
  return next();
};
