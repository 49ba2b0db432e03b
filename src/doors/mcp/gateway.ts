import type { Operation } from '../../engine/call/operation.ts';
import { ApiError, apiError, type ErrorTable, entry } from '../../engine/route/errors.ts';
import { cut } from '../../engine/route/json.ts';
import { Batch } from '../batch/batch.ts';
import type { Context, Handler } from '../http/context.ts';
import { HttpCall } from '../http/http-call.ts';
import type { HttpService } from '../http/service.ts';
import { answerBatch } from './batch.ts';
import { type Callable, McpMessage } from './message.ts';
import { mayCall } from './origin.ts';
import { rpcCodes, rpcError } from './rpc.ts';
import { groupsOf, type Listed, toolsOf } from './tools.ts';

/** Errors of MCP beyond those of every request. */
export const mcpErrors: ErrorTable = {
  ORIGIN_NOT_ALLOWED: entry(
    403,
    'the Origin must be that of this server: set PUBLIC_URL to the address at which its own web pages call it; those of other hosts may if CORS_ORIGINS lists them',
  ),
  NOT_ACCEPTABLE: entry(406, 'answers are JSON: send "Accept: application/json, text/event-stream"'),
};

const pattern = '/v1/spaces/:spaceId/mcp';

/** `POST /v1/spaces/{spaceId}/mcp`: the Model Context Protocol over streamable HTTP, stateless, answered as JSON. */
export function mcpGateway(service: HttpService, operations: ReadonlyMap<string, Operation>): Handler {
  // Made at the first request, as describing the schemas would delay the start.
  let tools: ReturnType<typeof toolsOf> | undefined;
  const batch = new Batch(service, operations);
  const callable = new Map<string, Callable>([...operations, [batch.route.call, batch]]);
  const log = service.log.child({ route: pattern });
  return {
    method: 'POST',
    pattern,
    log,
    errorBody,
    isResource: true,
    handle: async (ctx, params) => {
      const { origin, host } = ctx.req.headers;
      const server = { host, address: ctx.req.socket.localAddress ?? '', publicUrl: service.publicUrl };
      const isForeign = origin !== undefined && !service.corsOrigins.has(origin) && !mayCall(origin, server);
      if (isForeign) throw apiError('ORIGIN_NOT_ALLOWED', '', {}, mcpErrors);
      if (!ctx.accepts('application/json')) throw apiError('NOT_ACCEPTABLE', '', {}, mcpErrors);
      const request = new HttpCall(ctx, params);
      checkBody(ctx);
      tools ??= toolsOf(service);
      const asked = askedFor(tools, ctx.query['tools']);
      const parts = {
        ...{ service, operations: callable, request, gone: request.gone(), state: ctx.state },
        tools: asked ?? tools,
      };
      if (!asked) {
        const rates = await new McpMessage(parts).admit();
        const rule = `query parameter tools must be a comma-separated list of ${groupsOf(tools).join(', ')}`;
        throw new ApiError(400, 'VALIDATION_FAILED', rule, rates);
      }
      const { body } = ctx.request;
      const headers = headersOf(ctx);
      return Array.isArray(body)
        ? answerBatch(body, headers, parts)
        : new McpMessage(parts).answer({ message: body, text: request.text }, headers);
    },
  };
}

/** The tools of the groups in the address (`?tools=work,money`), by default all; undefined if a group is unknown. */
function askedFor(tools: ReadonlyMap<string, Listed>, asked: unknown): ReadonlyMap<string, Listed> | undefined {
  if (asked === undefined) return tools;
  const groups = groupsOf(tools);
  const wanted = String(asked).split(',');
  if (wanted.some((one) => !groups.includes(one))) return undefined;
  return new Map([...tools].filter(([, { group }]) => wanted.includes(group)));
}

/** The protocol's own error for an invalid message. */
function errorBody({ status, code, message }: ApiError): string | undefined {
  if (status !== 400) return undefined;
  return rpcError(code === 'MALFORMED_JSON' ? rpcCodes.parseError : rpcCodes.invalidRequest, message);
}

/** Throws for an empty body, and for nesting deeper than any request may have. */
function checkBody({ request: { rawBody } }: Context): void {
  if (typeof rawBody !== 'string' || rawBody === '') throw apiError('MALFORMED_JSON');
  cut(rawBody, undefined);
}

/** The headers of the protocol. */
function headersOf({ req: { headers } }: Context): Record<string, string> {
  const protocol = Object.entries(headers).filter(([name]) => name.startsWith('mcp-'));
  return Object.fromEntries(protocol.map(([name, value]) => [name, String(value)]));
}
