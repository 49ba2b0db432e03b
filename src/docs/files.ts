import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { page, script, style } from './page.ts';

/** Where the build puts the library; the same from src and from dist. */
export const libraryFolder = fileURLToPath(new URL('../../dist/docs/swagger-ui/', import.meta.url));

const html = 'text/html; charset=utf-8';
const javascript = 'text/javascript; charset=utf-8';
const css = 'text/css; charset=utf-8';

interface Source {
  readonly type: string;
  readonly read: () => Promise<string>;
}

const library = (type: string, name: string): Source => ({ type, read: () => readFile(libraryFolder + name, 'utf8') });
const own = (type: string, text: string): Source => ({ type, read: async () => text });

/** All there is: a path is looked up here and never becomes the name of a file. */
const sources = new Map<string, Source>([
  ['/docs', own(html, page)],
  ['/docs/page.css', own(css, style)],
  ['/docs/page.js', own(javascript, script)],
  ['/docs/swagger-ui.css', library(css, 'swagger-ui.css')],
  ['/docs/swagger-ui-bundle.js', library(javascript, 'swagger-ui-bundle.js')],
]);

/** A file of the page, ready to be sent. */
export interface DocsFile {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

const loaded = new Map<string, Promise<DocsFile>>();

/** Read and compressed by the first request for it, then kept: it changes with a new release only. */
export function docsFile(path: string): Promise<DocsFile> | undefined {
  const source = sources.get(path);
  if (!source) return undefined;
  const file = loaded.get(path) ?? load(source);
  loaded.set(path, file);
  // A failure is not kept: the next request looks again.
  file.catch(() => loaded.delete(path));
  return file;
}

async function load({ type, read }: Source): Promise<DocsFile> {
  const plain = Buffer.from(await read());
  const etag = createHash('sha256').update(plain).digest('base64url').slice(0, 22);
  return { type, etag, plain, gzipped: await promisify(gzip)(plain) };
}
