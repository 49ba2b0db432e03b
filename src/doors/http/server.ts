import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { envelope } from '../../engine/call/refusal.ts';
import { type ApiError, apiError, invalid } from '../../engine/route/errors.ts';
import { inTurn } from './pipelining.ts';

/** Far more than a request needs. A slower client only occupies a connection. */
const limits = { maxHeaderSize: 16_384, headersTimeout: 10_000, requestTimeout: 30_000 };
/** How often connections are checked against these timeouts. */
const connectionsCheckingInterval = 2_000;
/** Load balancers keep idle connections for up to a minute. They answer 502 if the server closes one as they use it. */
const keepAliveTimeout = 75_000;
/** Includes connections of held watches. Each takes 20 KiB of memory and a file descriptor. */
const maxConnections = 20_000;

/** An HTTP server whose errors all have the API's body, even those that Node answers without Koa. */
export function createHttpServer(listener: RequestListener): Server {
  const options = { ...limits, keepAliveTimeout, connectionsCheckingInterval, requireHostHeader: false };
  const server = createServer(
    options,
    inTurn((request, response) => {
      request.url = originForm(request.url);
      const hosts = hostsOf(request);
      if (hosts === 0 && request.httpVersion === '1.1') refuse(response, 400, 'the header Host is missing');
      else if (hosts > 1) refuse(response, 400, 'the header Host is there more than once');
      else listener(request, response);
    }),
  );
  server.maxConnections = maxConnections;
  // An unknown expectation may be ignored (RFC 9110, 10.1.1).
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node lets go of the socket: without a listener a reset would end the process, and nothing else would close it.
    socket.on('error', () => undefined);
    socket.once('finish', () => socket.destroy());
    cutOff(socket, 400, invalid('this server is not a proxy'));
  });
  server.on('clientError', unreadable);
  return server;
}

/** How many Host headers a request has. Node keeps the first, and a proxy may have gone by another. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

/**
 * The path of a request target, which may include scheme and host (as for proxies), without a fragment. Koa's parser throws
 * at a malformed host, and at `//a@[#`, whose start it takes for one.
 */
function originForm(target = '/'): string {
  const path = target.startsWith('/') ? target : /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*(\/.*)$/i.exec(target)?.[1];
  return path?.split('#', 1)[0] ?? '/';
}

function unreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  const isTimeUp = error.code === 'ERR_HTTP_REQUEST_TIMEOUT';
  const { _httpMessage: response } = socket as Duplex & { _httpMessage?: ServerResponse | null };
  // An answer in progress may belong to an earlier request, which must not get this error.
  const isOfAnother = response ? response.req.complete || response.headersSent : false;
  // Clients and proxies open connections ahead. One that is about to use it would take a 408 for the answer to its request.
  const wasNeverUsed = isTimeUp && socket instanceof Socket && socket.bytesRead === 0;
  if (!socket.writable || error.code === 'ECONNRESET' || isOfAnother || wasNeverUsed) socket.destroy();
  else if (error.code === 'HPE_HEADER_OVERFLOW') cutOff(socket, 431, apiError('HEADERS_TOO_LARGE'));
  else if (isTimeUp) cutOff(socket, 408, apiError('REQUEST_TIMEOUT'), response?.req);
  else cutOff(socket, 400, invalid('not a valid HTTP/1.1 request'));
}

const requestIdForm = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's X-Request-Id, or a new one. */
export function requestIdOf(request: IncomingMessage | undefined): string {
  const given = request?.headers['x-request-id'];
  return typeof given === 'string' && requestIdForm.test(given) ? given : randomUUID();
}

function refusal(error: ApiError, request?: IncomingMessage): { headers: OutgoingHttpHeaders; body: string } {
  const requestId = requestIdOf(request);
  const body = envelope(error, requestId);
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'X-Request-Id': requestId,
    'X-API-Version': '1',
    Connection: 'close',
    'Content-Length': Buffer.byteLength(body),
  };
  return { headers, body };
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const { headers, body } = refusal(invalid(message), response.req);
  response.writeHead(status, headers).end(body);
}

function cutOff(socket: Duplex, status: number, error: ApiError, request?: IncomingMessage): void {
  const { headers, body } = refusal(error, request);
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.join('\r\n')}\r\n\r\n${body}`);
}
