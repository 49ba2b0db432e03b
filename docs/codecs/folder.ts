// Keeps large values in a folder that all processes share; the message has only the name of the file. Files are named by
// their content, so the same value is kept once, and a file with other content is refused. Delete files yourself when they are older than your retention.
import { createHash } from 'node:crypto';
import { mkdir, open, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Codec } from 'muster-client';

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/**
 * @param minBytes smaller values stay in the message
 * @param maxBytes larger ones are neither stored nor read
 */
export function folder(path: string, minBytes = 16_384, maxBytes = 2 ** 24): Codec {
  const check = (bytes: number): void => {
    if (bytes > maxBytes) throw new Error(`the value has ${bytes} bytes, and the folder takes ${maxBytes}`);
  };
  return {
    name: 'folder',
    encode: async (bytes) => {
      if (bytes.length < minBytes) return undefined;
      check(bytes.length);
      const name = sha256(bytes);
      const file = join(path, name);
      const now = new Date();
      // An existing file is reused. A new modification time keeps it from being deleted as old.
      await utimes(file, now, now).catch(async () => {
        await mkdir(path, { recursive: true });
        const part = `${file}.${crypto.randomUUID()}`;
        await writeFile(part, bytes);
        await rename(part, file);
      });
      return new TextEncoder().encode(name);
    },
    decode: async (bytes) => {
      const name = new TextDecoder().decode(bytes);
      // Any other name could lead out of the folder.
      if (!/^[0-9a-f]{64}$/.test(name)) throw new Error('it is no name of a value');
      const file = await open(join(path, name));
      try {
        check((await file.stat()).size);
        const value = await file.readFile();
        if (sha256(value) !== name) throw new Error('the file has other content');
        return value;
      } finally {
        await file.close();
      }
    },
  };
}
