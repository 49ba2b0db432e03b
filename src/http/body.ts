import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import bodyParser from 'koa-bodyparser';
import { apiError } from './errors.ts';

const jsonType = /^application\/json\s*(;|$)/i;

/** As nearly every client writes it: the parser need not take it apart once more. */
const plainJsonType = 'application/json';

// A member named __proto__ is refused where fields are checked, and is data inside a payload.
const parse = bodyParser({
  enableTypes: ['json'],
  jsonLimit: 256 * 1024,
  // Any JSON is read; that it must be an object is said in its turn.
  strict: false,
  detectJSON: (ctx: Context) => ctx.req.headers['content-type'] === plainJsonType,
  onProtoPoisoning: 'ignore',
} as unknown as bodyParser.Options);

const nothingMore = async (): Promise<void> => undefined;

/** Reads ctx.request.body. 415, 413 and malformed JSON, in this order; no content type is needed where there is no body. */
export async function readBody(ctx: Context): Promise<void> {
  const { headers } = ctx.req;
  if (headers['transfer-encoding'] === undefined && (headers['content-length'] ?? '0') === '0') return;
  const type = headers['content-type'] ?? '';
  if (type !== plainJsonType && !jsonType.test(type)) throw apiError('UNSUPPORTED_MEDIA_TYPE');
  // Nothing is unpacked here: a few bytes could become very many, and what is not packed would fail on the way.
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') throw apiError('UNSUPPORTED_MEDIA_TYPE');
  const chunks: Buffer[] = [];
  ctx.req.on('data', (chunk: Buffer) => chunks.push(chunk));
  try {
    await parse(ctx as never, nothingMore);
  } catch (error) {
    const { type, status } = error as { type?: string; status?: number };
    if (type === 'entity.too.large') throw apiError('PAYLOAD_TOO_LARGE');
    if (status === 400) throw apiError('MALFORMED_JSON');
    throw error;
  }
  const { rawBody: text } = ctx.request as { rawBody?: string };
  // A content type that is malformed further on is passed over by the parser: the body would count as none.
  if (text === undefined) throw apiError('UNSUPPORTED_MEDIA_TYPE');
  // The parser puts U+FFFD where the bytes are no UTF-8; a body may also hold that character as it is.
  if (text.includes('\ufffd') && !isUtf8(Buffer.concat(chunks))) throw apiError('MALFORMED_JSON');
}
