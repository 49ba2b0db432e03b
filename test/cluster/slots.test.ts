import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';

import { shardsOf } from '../../src/engine/redis/cluster.ts';

import { Pace } from '../support/pace.ts';

import { call } from '../support/processes.ts';
import { Fleet, longest } from './fleet.ts';
import { moveSlot, slotOf } from './slots.ts';

describe('Organizations whose slots move between masters, under load', function () {
  this.timeout(300_000);
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start();
  });
  after(() => fleet.stop());

  it('moving every slot round the masters: nothing acknowledged is lost, nothing happens twice, nothing half', async () => {
    const { cluster, service, tenants } = fleet;
    expect(shardsOf(service.store), 'the masters, and not their replicas').to.have.length(3);
    expect(fleet.worker.stderr).to.contain('a Redis Cluster of 3 shards');
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

  it('a watch that is held by one process hears what another one writes, wherever the slot has gone meanwhile', async () => {
    const { cluster, apis } = fleet;
    const [watching, writing] = apis.map(({ url }) => url);
    const late: number[] = [];
    const pace = await Pace.begin();
    for (const tenant of fleet.quiet) {
      const { world } = tenant;
      const slot = slotOf(`{${world.org}}`);
      for (const master of cluster.masters) {
        const { nextCursor } = (await call(watching ?? '', world, '/events?cursor=latest')).body;
        // The tenant has a schedule that fires meanwhile; only this test makes mailboxes.
        const of = `types=mailbox.created&cursor=${nextCursor}`;
        const held = call(watching ?? '', world, `/watch?${of}&waitSeconds=30`);
        await sleep(100);
        await moveSlot(cluster, slot, master);
        const created = await call(writing ?? '', world, '/mailboxes', { name: 'm' });
        expect(created.status).to.equal(201);
        const written = performance.now();
        const { events } = (await held).body;
        late.push(performance.now() - written);
        expect(events.map((event: { aggregateId: string }) => event.aggregateId)).to.deep.equal([created.body.id]);
      }
    }
    const worst = Math.round(Math.max(...late));
    console.log(`      written to heard: ${worst} ms at most`);
    await pace.expect(worst, 3_000);
  });
});
