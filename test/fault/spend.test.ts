import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { slowProxy } from '../support/slow-proxy.ts';
import { expectSpendIsTrue } from '../support/spend-chaos.ts';
import { Lab } from './lab.ts';
import { chanceOf, seedOf } from './seed.ts';

describe('Model calls of both clients, killed and told to end, while API processes die', function () {
  this.timeout(900_000);
  let lab: Lab;
  let balancer: Awaited<ReturnType<typeof slowProxy>>;
  before(async () => {
    lab = await Lab.opened();
    await lab.admit(1);
    let turn = 0;
    // Each connection goes to one of the processes in turn.
    balancer = await slowProxy(() => lab.urls()[turn++ % lab.urls().length], 0);
  });
  after(async () => {
    balancer.close();
    await lab.stop();
  });

  it('book at least what the provider has billed, and at most the estimates of the unknown above it', async () => {
    const [tenant] = lab.tenants;
    if (!tenant) throw new Error('no tenant');
    const seed = seedOf('model calls');
    // The moments of the two depend on the machine, so each draws from a sequence of its own.
    const [chance, fate] = [chanceOf(seed), chanceOf(seed + 1)];
    const ends = { SIGKILL: 0, SIGTERM: 0 };
    const strike = async (): Promise<void> => {
      await sleep(1000 + fate.below(2000));
      const at = fate.below(lab.apis.length);
      const signal = fate.of(['SIGKILL', 'SIGKILL', 'SIGTERM'] as const);
      await lab.apis[at]?.end(signal);
      ends[signal]++;
      // Meanwhile the balancer still sends half of the connections there.
      lab.apis[at] = await lab.api();
    };
    const fleet = ['typescript', 'python', 'typescript', 'python'] as const;
    const access = { ...tenant, url: balancer.url };
    const figures = await expectSpendIsTrue({ access, chance, calls: 600, fleet, ends: 20, strike });
    console.log(`      ${figures}; API processes: ${ends.SIGKILL} kills, ${ends.SIGTERM} SIGTERM`);
    expect(ends.SIGKILL).to.be.at.least(5);
  });
});
