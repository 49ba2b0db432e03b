import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MusterProcess } from '../support/processes.ts';
import { Lab } from './lab.ts';
import { buildOther } from './other-build.ts';
import { soundUnder } from './under-load.ts';

/** The two builds share the store for so long after each change. */
const togetherMs = 1_000;

/** OTHER_BUILD: the folder of a checkout that is built, such as an earlier version, instead of the one made here. */
describe('A rolling change between two builds', function () {
  this.timeout(180_000);
  let lab: Lab;
  let other: string;
  const workers: MusterProcess[] = [];
  before(async () => {
    lab = await Lab.opened();
    if (lab.worker) workers.push(lab.worker, await lab.startWorker());
    other = process.env['OTHER_BUILD'] ?? (await lab.folder());
    if (process.env['OTHER_BUILD'] === undefined) await buildOther(other);
  });
  after(() => lab.stop());

  it('and back again, process by process, under load: nothing is lost, and no call fails that is repeated by its rules', async () => {
    await soundUnder(lab, 'a rolling change', async () => {
      for (const main of [join(other, 'dist/main.js'), 'dist/main.js']) {
        for (const at of lab.apis.keys()) {
          await lab.apis[at]?.end('SIGTERM');
          lab.apis[at] = await lab.api(main);
          await sleep(togetherMs);
        }
        for (const at of workers.keys()) {
          await workers[at]?.end('SIGTERM');
          workers[at] = await lab.startWorker(main);
          await sleep(togetherMs);
        }
      }
      return {};
    });
  });
});
