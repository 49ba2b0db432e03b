import { readdir, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lab } from './lab.ts';
import { missing } from './missing.ts';
import { underLoad } from './under-load.ts';

/** What appendfsync everysec may leave in the kernel's memory. */
const windowMs = 1_000;
/** While the disk is slow to take the last second, Redis keeps what follows in its own memory for so long at most. */
const heldBackMs = 2_000;

describe('A store that writes to disk every second', function () {
  this.timeout(120_000);
  let lab: Lab;
  before(async () => {
    // A rewrite would put another file in place of the one that is cut.
    lab = await Lab.opened({ appendfsync: 'everysec', 'auto-aof-rewrite-percentage': '0' });
  });
  after(() => lab.stop());

  it('kill -9 of Redis alone loses at most what it had not yet handed to the kernel', async () => {
    const act = async (): Promise<number> => {
      await sleep(6_000);
      const at = performance.now();
      await lab.redis.kill();
      await lab.redis.start();
      await sleep(3_000);
      return at;
    };
    await underLoad(lab, 'kill -9 of Redis, appendfsync everysec', act, async (load, at) => {
      console.log(`      ${(await missing(lab, load, at, heldBackMs)).text}`);
    });
  });

  it('a power cut loses at most the last second, and only whole calls', async () => {
    const folder = join(lab.redis.dir, 'appendonlydir');
    const act = async (): Promise<number> => {
      const file = join(folder, (await readdir(folder)).find((name) => name.endsWith('.incr.aof')) ?? '');
      const sizes: [at: number, bytes: number][] = [];
      for (const end = performance.now() + 6_000; performance.now() < end; await sleep(10))
        sizes.push([performance.now(), (await stat(file)).size]);
      const at = performance.now();
      await lab.redis.kill();
      // As if nothing of the last second had reached the disk.
      const [, bytes = 0] = sizes.findLast(([moment]) => moment <= at - windowMs) ?? [];
      await truncate(file, bytes);
      await lab.redis.start();
      await sleep(3_000);
      return at;
    };
    await underLoad(lab, 'power cut, appendfsync everysec', act, async (load, at) => {
      console.log(`      ${(await missing(lab, load, at, windowMs)).text}`);
    });
  });
});
