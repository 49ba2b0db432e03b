import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

/** A file of a site: by which path, of what type, and where its content comes from. */
export interface Source {
  readonly path: string;
  readonly type: string;
  readonly read: () => Promise<Buffer>;
}

interface File {
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

export interface Page {
  /** For the log. */
  readonly route: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content?: Buffer;
}

/**
 * Pages for people: a home (`/docs`) and the files below it. A path is looked up and never becomes the name of a file.
 */
export class Site {
  readonly #home: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #sources: ReadonlyMap<string, Source>;
  readonly #loaded = new Map<string, Promise<File>>();

  /** policy: the Content-Security-Policy of all its answers. */
  constructor(home: string, policy: readonly string[], sources: readonly Source[]) {
    this.#home = home;
    this.#sources = new Map(sources.map((source) => [source.path, source]));
    this.#headers = {
      'Content-Security-Policy': policy.join('; '),
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      // Kept, but asked for each time and answered 304: after an update nobody has half of the old pages.
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Encoding',
    };
  }

  /** What GET answers at this path; undefined where nothing is. */
  async answer(path: string, request: IncomingHttpHeaders): Promise<Page | undefined> {
    // A page names its files relative to its home, and so works below a proxy's prefix.
    if (path === `${this.#home}/`) {
      const location = { Location: `..${this.#home}`, 'Content-Length': '0' };
      return { route: path, status: 308, headers: { ...this.#headers, ...location } };
    }
    const source = this.#sources.get(path);
    if (!source) return undefined;
    const { etag, plain, gzipped } = await this.#file(source);
    const route = path === this.#home ? path : `${this.#home}/:file`;
    // Weak: the same page, compressed or not.
    const headers = { ...this.#headers, ETag: `W/${etag}` };
    if (isKnown(etag, request['if-none-match'])) return { route, status: 304, headers };
    const zipped = takesGzip(request['accept-encoding']);
    return {
      route,
      status: 200,
      headers: { ...headers, 'Content-Type': source.type, ...(zipped && { 'Content-Encoding': 'gzip' }) },
      content: zipped ? gzipped : plain,
    };
  }

  /** Read and compressed by the first request for it, then kept: it changes with a new release only. */
  #file(source: Source): Promise<File> {
    const known = this.#loaded.get(source.path);
    if (known) return known;
    const file = load(source);
    this.#loaded.set(source.path, file);
    // A failure is not kept: the next request looks again.
    file.catch(() => this.#loaded.delete(source.path));
    return file;
  }
}

async function load({ read }: Source): Promise<File> {
  const plain = await read();
  const etag = `"${hash('sha256', plain, 'base64url').slice(0, 22)}"`;
  return { etag, plain, gzipped: await promisify(gzip)(plain) };
}

function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  const given = ifNoneMatch?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return given?.some((one) => one === etag || one === '*') ?? false;
}

function takesGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(acceptEncoding ?? ''));
}
