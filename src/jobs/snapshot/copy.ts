import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sync } from '../../embedded/files.ts';

/** A file's length, and the SHA-256 of its content in hexadecimal. */
export interface Digest {
  readonly bytes: number;
  readonly sha256: string;
}

/** Computes a file's digest. Rejects when the signal aborts. */
export async function digestOf(path: string, signal?: AbortSignal): Promise<Digest> {
  const { stream, result } = digester();
  stream.resume();
  await pipeline([createReadStream(path), stream], signal ? { signal } : {});
  return result();
}

/** Copies a file and flushes the copy to disk. Rejects when the signal aborts. */
export async function copyDurably(from: string, to: string, signal?: AbortSignal): Promise<Digest> {
  const { stream, result } = digester();
  const target = createWriteStream(to, { mode: 0o600 });
  await pipeline([createReadStream(from), stream, target], signal ? { signal } : {});
  await sync(to);
  return result();
}

function digester(): { stream: Transform; result: () => Digest } {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  return { stream, result: () => ({ bytes, sha256: hash.digest('hex') }) };
}
