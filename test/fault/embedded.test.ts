import { appendFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Lab } from './lab.ts';
import { again, soundUnder } from './under-load.ts';

/** What a server leaves that is killed as it writes a call: this key must never be. */
const torn = '*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$4\r\ntorn\r\n$1\r\n1\r\n*1\r\n$4\r\nEX';

describe('The embedded store', function () {
  this.timeout(120_000);
  let lab: Lab;
  beforeEach(async () => {
    lab = await Lab.embedded();
  });
  afterEach(() => lab.stop());

  async function tear(): Promise<void> {
    const folder = join(lab.redis.dir, 'appendonlydir');
    const names = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof'));
    await appendFile(join(folder, names.sort().at(-1) ?? ''), torn);
  }

  /** Kills it again and again in mid-write, with whatever `others` kills and starts again. */
  async function isSound(title: string, others?: { kill(): Promise<unknown>; start(): Promise<void> }): Promise<void> {
    await soundUnder(lab, title, async (_load, chance) => {
      const outages: [number, number][] = [];
      const times = await again(async () => {
        await sleep(500 + chance.below(1_500));
        const from = Date.now();
        await Promise.all([lab.redis.kill(), others?.kill()]);
        await tear();
        await others?.start();
        await lab.redis.start();
        outages.push([from, Date.now() + 1_000]);
      });
      console.log(`      killed ${times} times`);
      return { outages };
    });
    expect(await lab.redis.link.exists('torn')).to.equal(0);
  }

  it('is started again when it is killed, again and again in mid-write: nothing acknowledged is lost', () =>
    isSound('kill -9 of the embedded Redis'));

  it('has everything when it and all processes are killed at once, and started again', () =>
    isSound('kill -9 of all at once', {
      kill: () => Promise.all([...lab.apis, ...(lab.worker ? [lab.worker] : [])].map((one) => one.end('SIGKILL'))),
      start: async () => {
        await lab.open();
        lab.apis.splice(0, lab.apis.length / 2);
      },
    }));
});
