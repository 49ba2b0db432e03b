import type { Calls } from '../http/call.ts';
import type { Context, Service } from '../http/context.ts';
import type { Handler } from '../http/endpoint.ts';
import { apiError, type ErrorTable, entry } from '../http/errors.ts';
import { cutFrom, Request, readCaller } from '../http/request.ts';
import { toolsOf } from './tools.ts';
import { Visit } from './visit.ts';

/** What is refused before the protocol is spoken, beyond the errors of every request. */
export const mcpErrors: ErrorTable = {
  ORIGIN_NOT_ALLOWED: entry(403, 'the Origin must be that of this server: web pages of other hosts may not call it'),
  NOT_ACCEPTABLE: entry(406, 'answers are JSON: send "Accept: application/json, text/event-stream"'),
};

const pattern = '/v1/spaces/:spaceId/mcp';

/** `POST /v1/spaces/{spaceId}/mcp`: the Model Context Protocol, streamable HTTP, stateless, answered as JSON. */
export function mcpGateway(service: Service, calls: Calls): Handler {
  // At the first request: describing the schemas takes long, and no start is to wait for it.
  let tools: ReturnType<typeof toolsOf> | undefined;
  const log = service.log.child({ route: pattern });
  return {
    pattern,
    log,
    handle: async (ctx, params) => {
      checkOrigin(ctx);
      if (!ctx.accepts('application/json')) throw apiError('NOT_ACCEPTABLE', '', {}, mcpErrors);
      const caller = readCaller(ctx.req.headers.authorization);
      const { body } = ctx.request;
      checkBody(ctx);
      const request = new Request(ctx, params);
      const { requestId } = request;
      const context = { caller, requestId, spaceId: params['spaceId'] ?? '', gone: request.gone() };
      tools ??= toolsOf(service.routes);
      const visit = new Visit({ service, calls, tools, context, state: ctx.state });
      return Array.isArray(body) ? visit.answerAll(body, headersOf(ctx)) : visit.answerOne(body, headersOf(ctx));
    },
  };
}

/** Only browsers send it: a page of another host may not call, as the protocol asks. */
function checkOrigin({ req: { headers } }: Context): void {
  const { origin, host } = headers;
  if (origin === undefined) return;
  const [scheme = ''] = origin.split('//', 1);
  const from = hostOf(origin);
  if (from === undefined || from !== hostOf(`${scheme}//${host ?? ''}`))
    throw apiError('ORIGIN_NOT_ALLOWED', '', {}, mcpErrors);
}

/** Lower-cased, without the port that the scheme has anyway. */
function hostOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).host || undefined : undefined;
}

/** Throws for an empty body, and for one that nests deeper than any other request may. */
function checkBody({ request: { rawBody } }: Context): void {
  if (typeof rawBody !== 'string' || rawBody === '') throw apiError('MALFORMED_JSON');
  cutFrom(rawBody, undefined);
}

/** The headers of the protocol. */
function headersOf({ req: { headers } }: Context): Record<string, string> {
  const protocol = Object.entries(headers).filter(([name]) => name.startsWith('mcp-'));
  return Object.fromEntries(protocol.map(([name, value]) => [name, String(value)]));
}
