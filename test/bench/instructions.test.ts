import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { OwnStore } from '../support/own-store.ts';
import { CALL_NAMES, makeCalls } from './instructions/calls.ts';
import { figuresOf, figuresTable, perCall } from './instructions/figures.ts';
import { RecordedService } from './instructions/recorded-service.ts';
import { runRounds } from './instructions/rounds.ts';
import { readOptions } from './instructions/settings.ts';
import { openTree } from './instructions/tree.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

describe('npm run bench:instructions', () => {
  it('makes every call so that it succeeds, alone and gathered', async () => {
    const store = await OwnStore.start();
    const service = await RecordedService.start(await openTree(root), store.url);
    const redis = new Redis({ path: store.url, protocol: 2 });
    try {
      const prepare = await makeCalls((request) => service.post(request));
      // Stands in for valgrind, which may not be there.
      const count = async (work: () => Promise<void>): Promise<number> => {
        await work();
        return 24;
      };
      const batch = { before: 1, counted: 1 };
      const batches = { alone: { ...batch, carries: 1 }, gathered: { ...batch, carries: 2 } };
      const found = await runRounds({ service, prepare, redis, count }, 1, batches);

      const table = figuresTable(figuresOf(found, '7.0.15'));
      for (const name of CALL_NAMES) expect(table).to.match(new RegExp(`^${name} +24  0\\.00 % +12  0\\.00 %$`, 'm'));
    } finally {
      redis.disconnect();
      await service.stop();
      await store.stop();
    }
  });

  it('says what has changed against earlier figures', () => {
    const all = (value: number) => {
      const calls = perCall((_, way) => [way === 'alone' ? value : value / 2]);
      return figuresOf({ calls, pings: [4000] }, '7.0.15');
    };
    expect(figuresTable(all(90_000), all(100_000))).to.match(/^settle +90,000 +-10\.00 % +45,000 +-10\.00 %$/m);
  });

  it('refuses a number of rounds that is none', () => {
    expect(() => readOptions(['--rounds', 'few'])).to.throw('--rounds must be a whole number from 1 to 7, not "few"');
  });
});
