import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

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
