import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Built into dist/ by `npm run build`, also for a server that runs from source. */
const folder = fileURLToPath(new URL('../../dist/console/browser/', import.meta.url));

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing but our own files, no inline code or styles, no text that becomes markup; it talks to its own server only. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const headers = {
  'Content-Security-Policy': policy,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // Kept, but asked for each time: after an update nobody runs half of the old console.
  'Cache-Control': 'no-cache',
};

interface File {
  readonly content: Buffer;
  readonly type: string;
  readonly etag: string;
}

export interface Page {
  /** For the log. */
  readonly route: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content?: Buffer;
}

/** The console's files by their paths. Everything is read at start, so a request never names a file to the system. */
export class ConsoleSite {
  readonly #files: ReadonlyMap<string, File>;

  constructor() {
    this.#files = new Map(filesIn(folder).map((name) => [pathOf(name), read(name)]));
  }

  /** What GET answers at this path; undefined where nothing is. */
  answer(path: string, ifNoneMatch: string | undefined): Page | undefined {
    // The page names its files relative to /console, and so works below a proxy's prefix.
    if (path === '/console/') return { route: path, status: 308, headers: { ...headers, Location: '../console' } };
    const file = this.#files.get(path);
    if (!file) return undefined;
    const route = path === '/console' ? path : '/console/:file';
    const { etag, type, content } = file;
    if (isKnown(etag, ifNoneMatch)) return { route, status: 304, headers: { ...headers, ETag: etag } };
    return { route, status: 200, headers: { ...headers, ETag: etag, 'Content-Type': type }, content };
  }
}

/** None before the first build. */
function filesIn(where: string): string[] {
  try {
    return readdirSync(where, { recursive: true, encoding: 'utf8' }).filter((name) => extname(name) in types);
  } catch {
    return [];
  }
}

function pathOf(name: string): string {
  return name === 'index.html' ? '/console' : `/console/${name}`;
}

function read(name: string): File {
  const content = readFileSync(`${folder}${name}`);
  return { content, type: types[extname(name)] ?? '', etag: `"${hash('sha256', content, 'base64url').slice(0, 22)}"` };
}

function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  const given = ifNoneMatch?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return given?.some((one) => one === etag || one === '*') ?? false;
}
