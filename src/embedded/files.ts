import { mkdir, open, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** What a file holds, or which names a folder has, is on the disk when this returns. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file that is on the disk when this returns; its name is so once its folder is synced. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  await sync(path);
}

/**
 * Makes a folder and those above it, for this user alone. Node's own way never ends where there is no room for any: in
 * /proc, or below a working directory that was deleted.
 */
export async function makeFolders(path: string): Promise<void> {
  const isFolder = (): Promise<boolean> =>
    stat(path).then(
      (info) => info.isDirectory(),
      () => false,
    );
  if (await isFolder()) return;
  if (dirname(path) !== path) await makeFolders(dirname(path));
  await mkdir(path, { mode: 0o700 }).catch(async (error: Error) => {
    // Another process may have made it meanwhile.
    if (!(await isFolder())) throw error;
  });
}
