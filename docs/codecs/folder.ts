// Keeps large values in a folder that all processes share; the message has only the name of the file. Files are named by
// their content, so the same value is kept once. Delete files yourself when they are older than your retention.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Codec } from 'muster-client';

/** @param minBytes smaller values stay in the message */
export function folder(path: string, minBytes = 16_384): Codec {
  const fileOf = (name: string): string => {
    if (!/^[0-9a-f]{64}$/.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a value`);
    return join(path, name);
  };
  return {
    name: 'folder',
    encode: async (bytes) => {
      if (bytes.length < minBytes) return undefined;
      const name = createHash('sha256').update(bytes).digest('hex');
      const file = fileOf(name);
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
    decode: (bytes) => readFile(fileOf(new TextDecoder().decode(bytes))),
  };
}
