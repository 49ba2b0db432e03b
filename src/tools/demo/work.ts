import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The demo's work: counting and hashing real files. Nothing here knows about Muster. */

/**
 * Parts that can be worked on separately: the entries of the folder. A folder of packages (`@…`) has one part for each
 * package.
 */
export async function unitsOf(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const units: string[] = [];
  for (const entry of entries)
    if (entry.name.startsWith('@') && entry.isDirectory())
      units.push(...(await unitsOf(join(folder, entry.name))).map((one) => join(entry.name, one)));
    else if (entry.isDirectory() || entry.isFile()) units.push(entry.name);
  return units.sort();
}

/** Paths of all regular files of a unit, sorted. Links are not followed. */
async function filesOf(path: string): Promise<string[]> {
  if ((await stat(path)).isFile()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name)).sort();
}

/** The number of files below a folder, and their bytes. */
export async function measure(path: string) {
  const files = await filesOf(path);
  let bytes = 0;
  for (const file of files) bytes += (await stat(file)).size;
  return { files: files.length, bytes };
}

/** One SHA-256 over the names and contents of all files. */
export async function digest(path: string): Promise<string> {
  const hash = createHash('sha256');
  for (const file of await filesOf(path)) {
    hash.update(`${file.slice(path.length)}\0`);
    for await (const chunk of createReadStream(file)) hash.update(chunk);
  }
  return hash.digest('hex');
}
