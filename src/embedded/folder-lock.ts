import { randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, self } from './process-identity.ts';

const PREFIX = 'lock.';

/**
 * Runs `work` while no other process (and no other caller in this one) is inside for the same folder.
 *
 * Everyone puts a file named after itself there and then looks for others: whoever came second sees the first. A file
 * says by its name who left it, so that one of a dead process can be removed without a race, as it never comes back.
 *
 * @param patienceMs how long to wait for the others
 * @param signal ends the waiting
 * @throws Error naming the holder's file when the patience is at its end
 */
export async function withFolderLock<T>(
  folder: string,
  patienceMs: number,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const mine = `${PREFIX}${self()}.${randomBytes(4).toString('hex')}`;
  const until = Date.now() + patienceMs;
  for (;;) {
    if ((await others(folder, mine)).length === 0) {
      await writeFile(join(folder, mine), '');
      const rivals = await others(folder, mine);
      if (rivals.length === 0) break;
      await rm(join(folder, mine), { force: true });
    }
    if (Date.now() > until) {
      const [holder] = await others(folder, mine);
      throw new Error(`waited ${patienceMs / 1000} s for another process that holds ${join(folder, holder ?? PREFIX)}`);
    }
    // of differing length, so that two that met do not meet again
    await sleep(5 + Math.random() * 30, undefined, { signal });
  }
  try {
    return await work();
  } finally {
    await rm(join(folder, mine), { force: true });
  }
}

async function others(folder: string, mine: string): Promise<string[]> {
  const alive: string[] = [];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(PREFIX) || name === mine) continue;
    if (isAlive(name.slice(PREFIX.length, name.lastIndexOf('.')))) alive.push(name);
    else await rm(join(folder, name), { force: true });
  }
  return alive;
}
