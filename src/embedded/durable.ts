import { open, writeFile } from 'node:fs/promises';

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
