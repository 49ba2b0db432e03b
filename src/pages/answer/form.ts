import type { IncomingMessage } from 'node:http';
import { ApiError } from '../../engine/route/errors.ts';

/** Enough for the largest payload with every byte escaped. */
const maxBytes = 256 * 1024;

const formType = /^application\/x-www-form-urlencoded\s*(;|$)/i;

/** The fields of a form. Throws 400, 413 or 415. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  if (!formType.test(request.headers['content-type'] ?? '') || request.headers['content-encoding'] !== undefined)
    throw new ApiError(415, 'UNSUPPORTED_MEDIA_TYPE', 'Please use the form of the page.');
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new ApiError(413, 'PAYLOAD_TOO_LARGE', 'The answer is too long.');
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    // The connection was lost, as of a phone.
    throw new ApiError(400, 'VALIDATION_FAILED', 'The answer did not arrive completely: please send it again.');
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
