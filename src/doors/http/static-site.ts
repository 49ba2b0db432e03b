import { hash } from 'node:crypto';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Step } from './context.ts';
import { readOnly } from './probes.ts';

export interface SiteSource {
  readonly path: string;
  readonly type: string;
  readonly read: () => Promise<Buffer>;
}

interface File {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

/** The headers of pages with this Content-Security-Policy. */
export function headersUnder(policy: readonly string[]): Readonly<Record<string, string>> {
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
}

/** Pages for people: a home (`/docs`) and the files below it. Paths are looked up in a list, so no other file can be read. */
export class Site {
  readonly #home: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #sources: ReadonlyMap<string, SiteSource>;
  readonly #loaded = new Map<string, Promise<File>>();

  /** policy: the Content-Security-Policy of every answer. */
  constructor(home: string, policy: readonly string[], sources: readonly SiteSource[]) {
    this.#home = home;
    this.#sources = new Map(sources.map((source) => [source.path, source]));
    this.#headers = {
      ...headersUnder(policy),
      // Browsers revalidate each time (304), so nobody mixes old and new files after an update.
      'Cache-Control': 'no-cache',
      Vary: 'Accept-Encoding',
    };
  }

  /** The step that serves its paths. */
  readonly pages: Step = async (ctx, next) => {
    const { path, state } = ctx;
    if (path === `${this.#home}/`) {
      readOnly(ctx, path);
      // A page names its files relative to its home, so it also works below a proxy's prefix.
      const location = { Location: `../${basename(this.#home)}`, 'Content-Length': '0' };
      state.answer = { status: 308, headers: { ...this.#headers, ...location } };
      return;
    }
    const file = this.file(path);
    if (!file) return next();
    readOnly(ctx, path.startsWith(`${this.#home}/`) ? `${this.#home}/:file` : path);
    const { type, etag, plain, gzipped } = await file;
    // Weak, as the page may or may not be compressed.
    const headers = { ...this.#headers, ETag: `W/${etag}` };
    if (isKnown(etag, ctx.headers['if-none-match'])) {
      state.answer = { status: 304, headers };
      return;
    }
    const isZipped = takesGzip(ctx.headers['accept-encoding']);
    state.answer = {
      status: 200,
      headers: { ...headers, 'Content-Type': type, ...(isZipped && { 'Content-Encoding': 'gzip' }) },
      content: isZipped ? gzipped : plain,
    };
  };

  /** Reads and compresses a file on its first request and keeps it, since files only change with a release. */
  file(path: string): Promise<File> | undefined {
    const source = this.#sources.get(path);
    const known = this.#loaded.get(path);
    if (known || !source) return known;
    const file = load(source);
    this.#loaded.set(path, file);
    // Don't keep a failure, so that the next request tries again.
    file.catch(() => this.#loaded.delete(path));
    return file;
  }
}

async function load({ type, read }: SiteSource): Promise<File> {
  const plain = await read();
  const etag = `"${hash('sha256', plain, 'base64url').slice(0, 22)}"`;
  return { type, etag, plain, gzipped: await promisify(gzip)(plain) };
}

function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  const given = ifNoneMatch?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return given?.some((one) => one === etag || one === '*') ?? false;
}

function takesGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(acceptEncoding ?? ''));
}
