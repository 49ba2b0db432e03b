import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { Fleet, longest } from './fleet.ts';
import { moveSlot, slotOf } from './slots.ts';

describe('Organizations whose slots move between masters, under load', function () {
  this.timeout(120_000);
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start();
  });
  after(() => fleet.stop());

  it('moving every slot round the masters: nothing acknowledged is lost, nothing happens twice, nothing half', async () => {
    const { cluster, tenants } = fleet;
    let moves = 0;
    await fleet.underLoad(async () => {
      await sleep(1000);
      for (let round = 0; round < 2; round++) {
        for (const tenant of tenants) {
          const at = cluster.masters.indexOf(await fleet.nodeOf(tenant));
          const to = cluster.masters[(at + 1) % cluster.masters.length];
          if (to) await moveSlot(cluster, slotOf(`{${tenant.world.org}}`), to);
          moves++;
        }
      }
    });
    await fleet.found(tenants);
    for (const tenant of tenants) await tenant.check();
    const { ms, failures } = longest(tenants);
    const rounds = tenants.reduce((sum, tenant) => sum + tenant.rounds, 0);
    console.log(`      ${moves} moves, ${rounds} rounds; ${failures} answers 503, the longest refusal ${ms} ms`);
    expect(
      [...new Set(tenants.flatMap(({ statuses }) => [...statuses]))].filter((status) => status >= 500),
    ).to.deep.equal([]);
  });
});
