import { setTimeout as sleep } from 'node:timers/promises';
import { Lab } from './lab.ts';
import { again, soundUnder } from './under-load.ts';

describe('Processes of ours that die', function () {
  this.timeout(120_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.opened();
  });
  after(() => lab.stop());

  it('kill -9 of APIs and of the worker, again and again, loses nothing and doubles nothing', async () => {
    await soundUnder(lab, 'kill -9 of API and worker', async (_load, chance) => {
      const outages: [number, number][] = [];
      const apis = again(async () => {
        await sleep(chance.below(400));
        const at = chance.below(lab.apis.length);
        await lab.apis[at]?.end('SIGKILL');
        lab.apis[at] = await lab.api();
      });
      const workers = again(async () => {
        await sleep(chance.below(400));
        const from = Date.now();
        await lab.worker?.end('SIGKILL');
        lab.worker = await lab.startWorker();
        outages.push([from, Date.now()]);
      });
      console.log(`      ${await apis} kills of an API, ${await workers} of the worker`);
      return { outages };
    });
  });
});
