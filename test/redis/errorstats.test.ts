import { expect } from 'chai';
import { Metered, scrape } from '../metrics/metered.ts';
import { OwnStore } from '../support/own-store.ts';
import { World } from '../support/world.ts';

describe('The errors that Redis counts', () => {
  let metered: Metered;
  before(async () => {
    metered = await Metered.start(await OwnStore.start());
  });
  after(async () => {
    await metered.stop();
    await metered.store.stop();
  });

  it('are those of callers: connections, probes and metrics leave none', async () => {
    const service = await metered.service({ role: 'all' });
    const errors = async () => [...(await service.store.info('errorstats')).matchAll(/^errorstat_(\w+):count=(\d+)/gm)];
    for (let n = 0; n < 3; n++) {
      expect((await fetch(`${service.url}/readyz`)).status).to.equal(200);
      await scrape(service);
    }
    // The first call of all finds no library, which it then loads.
    expect((await errors()).filter(([, code]) => code !== 'ERR').map(([, code]) => code)).to.deep.equal([]);
    const counted = Number((await errors()).find(([, code]) => code === 'ERR')?.[2] ?? 0);
    expect(counted).to.be.at.most(1);
    const world = await World.create({ on: service });
    await world.get('/budgets/00000000-0000-7000-8000-000000000000');
    expect((await errors()).map(([, code]) => code)).to.include('BUDGET_NOT_FOUND');
  });
});
