import { mkdir, open, stat, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Flushes a file's content, or a folder's names, to disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a file and flushes its content to disk. To make its name durable as well, `sync` the folder. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
  await sync(path);
}

/**
 * Creates a folder and its parents, accessible to this user only. Node's `recursive` never returns where a folder cannot be
 * created: in /proc, or below a deleted working directory.
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
    // Another process may have created it meanwhile.
    if (!(await isFolder())) throw error;
  });
}
