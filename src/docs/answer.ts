import type { IncomingHttpHeaders } from 'node:http';
import { docsFile } from './files.ts';

/** What the page may do: run our scripts, call this server. The library sets style attributes as it draws. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const headers = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Asked for again each time, and answered 304: never older than the service that it describes.
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Encoding',
};

interface DocsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content?: Buffer;
}

/** The API reference at /docs and what it loads; undefined where there is nothing of that name. */
export async function docsAnswer(path: string, request: IncomingHttpHeaders): Promise<DocsAnswer | undefined> {
  if (path === '/docs/') return { status: 308, headers: { Location: '../docs', 'Content-Length': '0' } };
  const file = await docsFile(path);
  if (!file) return undefined;
  const zipped = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(request['accept-encoding'] ?? ''));
  // Weak: the same page, compressed or not.
  const etag = `W/"${file.etag}"`;
  const common = { ...headers, ETag: etag };
  const known = (request['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known.includes('*') || known.includes(`"${file.etag}"`)) return { status: 304, headers: common };
  const encoding: Record<string, string> = zipped ? { 'Content-Encoding': 'gzip' } : {};
  return {
    status: 200,
    headers: { ...common, ...encoding, 'Content-Type': file.type },
    content: zipped ? file.gzipped : file.plain,
  };
}
