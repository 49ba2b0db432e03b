import type { Step } from './context.ts';

/** What web pages may send besides what every page may. */
const allowedHeaders = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key', 'Last-Event-ID', 'X-Request-Id', 'traceparent', 'tracestate'],
  ...['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name', 'Mcp-Session-Id'],
].join(', ');
/** What they may read of an answer besides its body and type. */
const exposedHeaders = [
  ...['X-Request-Id', 'X-API-Version', 'RateLimit', 'RateLimit-Policy', 'Retry-After', 'Idempotent-Replayed'],
  ...['WWW-Authenticate', 'Allow', 'ETag'],
].join(', ');

const preflight = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Headers': allowedHeaders,
  // Chromium's longest.
  'Access-Control-Max-Age': '7200',
};

/**
 * Lets web pages of these origins call, and read every answer, refusals and streams included. Keys and tokens are sent in a
 * header, so pages need no credentials of the browser. Pages of other origins get the answers that they got before.
 */
export function cors(origins: ReadonlySet<string>): Step {
  return async (ctx, next) => {
    const { origin, 'access-control-request-method': asked } = ctx.req.headers;
    const isListed = origin !== undefined && origins.has(origin);
    const isPreflight = isListed && ctx.method === 'OPTIONS' && asked !== undefined;
    if (isPreflight) {
      ctx.state.route = 'preflight';
      ctx.state.answer = { status: 204, headers: preflight };
    } else {
      await next();
    }
    const { answer } = ctx.state;
    if (!answer) return;
    const vary = [answer.headers['Vary'], 'Origin'].filter(Boolean).join(', ');
    const allowed = isListed && {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': exposedHeaders,
    };
    ctx.state.answer = { ...answer, headers: { ...answer.headers, ...allowed, Vary: vary } };
  };
}
