import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import bodyParser from 'koa-bodyparser';
import { ApiError, apiError } from '../../engine/route/errors.ts';
import { defaultMaxBodyBytes } from '../../engine/route/route.ts';
import { bodyMethods } from '../../engine/route/route-errors.ts';
import type { Step } from './context.ts';

const jsonType = /^application\/json\s*(;|$)/i;

/** The value that nearly every client sends. Comparing is faster than the regular expression. */
const plainJsonType = 'application/json';

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

/** Refuses a body that is not plain JSON. An empty body needs no content type, and the body of a GET is not read. */
export const requireJson: Step = (ctx, next) => {
  const { headers } = ctx.req;
  if (!hasBody(ctx.req) || !bodyMethods.has(ctx.method)) {
    ctx.disableBodyParser = true;
    return next();
  }
  const type = headers['content-type'] ?? '';
  if (type !== plainJsonType && !jsonType.test(type)) throw apiError('UNSUPPORTED_MEDIA_TYPE');
  // Don't decompress: a few bytes could expand to gigabytes.
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    const message = `the Content-Encoding ${encoding} is not supported: send the body as it is, without this header`;
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', message);
  }
  const chunks: Buffer[] = [];
  ctx.state.chunks = chunks;
  ctx.req.on('data', (chunk: Buffer) => chunks.push(chunk));
  return next();
};

/** An option of co-body that the types of koa-bodyparser lack. */
type Options = bodyParser.Options & { readonly onProtoPoisoning: 'ignore' };

const options = (jsonLimit: number): Options => ({
  enableTypes: ['json'],
  jsonLimit: String(jsonLimit),
  // Accept any JSON value: the check of the fields refuses one that is not an object.
  strict: false,
  detectJSON: (ctx) => ctx.req.headers['content-type'] === plainJsonType,
  // In a payload __proto__ is data. As a field of the request, the check of the fields refuses it.
  onProtoPoisoning: 'ignore',
  onerror: (error) => {
    const { type, status } = error as { type?: string; status?: number };
    if (type === 'entity.too.large') throw bodyTooLarge(jsonLimit);
    throw status === 400 ? apiError('MALFORMED_JSON') : error;
  },
});

function bodyTooLarge(limit: number): ApiError {
  if (limit === defaultMaxBodyBytes) return apiError('PAYLOAD_TOO_LARGE');
  return new ApiError(
    413,
    'PAYLOAD_TOO_LARGE',
    `the body is larger than ${limit / 1024 / 1024} MiB: send fewer calls at a time`,
  );
}

const parse: Step = bodyParser(options(defaultMaxBodyBytes));
/** For routes with another limit. */
const others = new Map<number, Step>();

/** Reads the body into `ctx.request.body` and its text into `ctx.request.rawBody`. */
export const parseJson: Step = (ctx, next) => {
  const limit = ctx.state.match?.handler.maxBodyBytes;
  if (limit === undefined) return parse(ctx, next);
  const other: Step = others.get(limit) ?? bodyParser(options(limit));
  others.set(limit, other);
  return other(ctx, next);
};

/** Refuses a body that is not UTF-8, as the parser replaces invalid bytes by U+FFFD. */
export const requireUtf8: Step = (ctx, next) => {
  const { chunks } = ctx.state;
  if (chunks) {
    const { rawBody } = ctx.request;
    // The parser skips a content type with malformed parameters.
    if (typeof rawBody !== 'string') throw apiError('UNSUPPORTED_MEDIA_TYPE');
    // A valid body may contain U+FFFD as well.
    if (rawBody.includes('\ufffd') && !isUtf8(Buffer.concat(chunks))) throw apiError('MALFORMED_JSON');
  }
  return next();
};
