import { setTimeout as sleep } from 'node:timers/promises';
import { Lab } from './lab.ts';
import { again, soundUnder } from './under-load.ts';

describe('Processes that die, or stand still', function () {
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

  it('processes that stand still for seconds and go on lose nothing and double nothing', async () => {
    await soundUnder(lab, 'processes that stand still', async (_load, chance) => {
      const outages: [number, number][] = [];
      const times = await again(async () => {
        await sleep(chance.below(1_000));
        const from = Date.now();
        const all = [lab.redis.pid, lab.worker?.pid, ...lab.apis.map(({ pid }) => pid)].map(Number);
        const some = chance.next() < 0.2 ? all : [chance.of(all)];
        for (const pid of some) process.kill(pid, 'SIGSTOP');
        await sleep(chance.of([300, 1_500, 3_500, 7_000]));
        for (const pid of some) process.kill(pid, 'SIGCONT');
        outages.push([from, Date.now() + 1_000]);
      });
      console.log(`      ${times} times`);
      return { outages };
    });
  });
});
