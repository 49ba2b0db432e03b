import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from './context.ts';

/** A body that many callers get, plain and compressed. */
export interface SharedBody {
  readonly type: string;
  readonly etag: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
}

export async function sharedBody(type: string, plain: Buffer): Promise<SharedBody> {
  const etag = `"${hash('sha256', plain, 'base64url').slice(0, 22)}"`;
  return { type, etag, plain, gzipped: await promisify(gzip)(plain) };
}

/** Of answers that callers revalidate each time, so that nobody mixes old and new after an update. */
export const revalidated = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding' } as const;

/** Answers with the body as the caller takes it, or with 304 if it has the same one. */
export function answerShared(ctx: Context, body: SharedBody, given: Readonly<Record<string, string>> = {}): void {
  const { type, etag, plain, gzipped } = body;
  // Weak, as the body may or may not be compressed.
  const headers = { ...given, ...revalidated, ETag: `W/${etag}` };
  if (isKnown(etag, ctx.headers['if-none-match'])) {
    ctx.state.answer = { status: 304, headers };
    return;
  }
  const isZipped = takesGzip(ctx.headers['accept-encoding']);
  ctx.state.answer = {
    status: 200,
    headers: { ...headers, 'Content-Type': type, ...(isZipped && { 'Content-Encoding': 'gzip' }) },
    content: isZipped ? gzipped : plain,
  };
}

/** Makes a value when somebody asks, at most once in this time, for all who ask meanwhile. A failure is not kept. */
export function madeOnce<T>(maxAgeMs: number, make: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  let madeAt = 0;
  return () => {
    const now = performance.now();
    if (latest && now - madeAt < maxAgeMs) return latest;
    const value = make();
    [latest, madeAt] = [value, now];
    value.catch(() => {
      if (latest === value) latest = undefined;
    });
    return value;
  };
}

function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  const given = ifNoneMatch?.split(',').map((one) => one.trim().replace(/^W\//, ''));
  return given?.some((one) => one === etag || one === '*') ?? false;
}

function takesGzip(acceptEncoding: string | string[] | undefined): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(String(acceptEncoding ?? ''));
}
