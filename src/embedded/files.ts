import { chmod, mkdir, open, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

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

const sticky = 0o1000;

/**
 * Takes all rights of others on a folder, and on the files and folders in it that are `ours`, whoever has made them. A folder
 * for everybody, such as /tmp, stays one.
 */
export async function makePrivate(folder: string, ours: (name: string) => boolean): Promise<void> {
  const { uid, mode } = await stat(folder);
  if (uid === process.getuid?.() && (mode & sticky) === 0) await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // A server may just have removed it, and another user's file is not ours to change.
    if (ours(entry.name) && entry.isDirectory()) await makePrivate(path, () => true).catch(() => undefined);
    if (ours(entry.name) && entry.isFile()) await chmod(path, 0o600).catch(() => undefined);
  }
}
