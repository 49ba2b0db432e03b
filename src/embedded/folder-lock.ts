import { randomBytes } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, self } from './process-identity.ts';

const PREFIX = 'lock.';

/**
 * Runs `work` under a lock on the folder, which excludes other processes and other callers in this process.
 *
 * Everyone creates a file named after itself and then looks for others: whoever comes second sees the first. The name
 * identifies the process, so the file of a dead one can be removed without a race.
 *
 * @param timeoutMs how long to wait for the lock
 * @param signal stops waiting
 * @throws Error that names the holder's file after the timeout
 */
export async function withFolderLock<T>(
  folder: string,
  timeoutMs: number,
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const mine = `${PREFIX}${self()}.${randomBytes(4).toString('hex')}`;
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    if ((await others(folder, mine)).length === 0) {
      await writeFile(join(folder, mine), '', { mode: 0o600 });
      const rivals = await others(folder, mine);
      if (rivals.length === 0) break;
      await rm(join(folder, mine), { force: true });
    }
    if (Date.now() > deadline) {
      const [holder] = await others(folder, mine);
      throw new Error(`waited ${timeoutMs / 1000} s for the process that holds ${join(folder, holder ?? PREFIX)}`);
    }
    // random, so that two rivals do not collide again
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
