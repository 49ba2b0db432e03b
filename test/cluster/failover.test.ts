import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type ClusterNode, nodeTimeoutMs } from '../support/cluster.ts';
import { call, until } from '../support/processes.ts';
import { Fleet, longest } from './fleet.ts';
import { ownerOf, replicasOf, slotOf } from './slots.ts';
import type { Tenant } from './tenant.ts';

/** What an organization on a living shard may notice of another shard's death. */
const noticeMs = 1_000;
/** What a call to a dead shard may take to be refused. */
const refusedMs = 1_500;

describe('Masters of a cluster that die under load', function () {
  this.timeout(120_000);
  let fleet: Fleet;

  before(async () => {
    fleet = await Fleet.start();
  });
  after(() => fleet.stop());

  const others = (tenants: ReadonlySet<Tenant>): Tenant[] => fleet.tenants.filter((tenant) => !tenants.has(tenant));
  const heirOf = async (master: ClusterNode): Promise<ClusterNode> => {
    const [heir] = await replicasOf(fleet.cluster, master);
    if (!heir) throw new Error('it has no replica');
    return heir;
  };
  const checkAll = async (tenants: readonly Tenant[]): Promise<void> => {
    await fleet.found(tenants);
    for (const tenant of tenants) await tenant.check();
  };
  /** The statuses of /readyz of the API processes. */
  const readiness = () => Promise.all(fleet.apis.map(async ({ url }) => (await fetch(`${url}/readyz`)).status));

  it('a planned failover (CLUSTER FAILOVER) loses nothing', async () => {
    const master = await ownerOf(fleet.cluster, 0);
    const heir = await heirOf(master);
    await fleet.underLoad(async () => {
      await sleep(500);
      await heir.cluster('FAILOVER');
      await until(async () => (await ownerOf(fleet.cluster, 0)) === heir);
      await sleep(500);
    });
    await checkAll(fleet.tenants);
    const { ms, failures } = longest(fleet.tenants);
    console.log(`      ${failures} answers 503, the longest refusal ${ms} ms`);
  });

  it('kill -9 of a master: its replica takes over; the other shards notice nothing, and no invariant breaks', async () => {
    const master = await ownerOf(fleet.cluster, 16_383);
    const heir = await heirOf(master);
    const hit = await fleet.tenantsOf(master);
    let killedAt = 0;
    await fleet.underLoad(async () => {
      await sleep(500);
      await master.kill();
      killedAt = Date.now();
      await until(async () => (await ownerOf(fleet.cluster, 16_383)) === heir);
      await sleep(500);
    });
    await fleet.found(hit);
    const lost = (await Promise.all([...hit].map((tenant) => tenant.checkTorn()))).flat();
    const tailMs = lost.length === 0 ? 0 : killedAt - Math.min(...lost);
    await checkAll(others(hit));
    const [there, here] = [longest(hit), longest(others(hit))];
    console.log(
      `      its organizations: refused for ${there.ms} ms at most (a node is given up after ${nodeTimeoutMs} ms)`,
    );
    console.log(`      acknowledged sends lost with it: ${lost.length} (of the last ${tailMs} ms)`);
    console.log(`      the others: ${here.failures} answers 503, the longest refusal ${here.ms} ms`);
    expect(here.ms).to.be.at.most(noticeMs);
    await master.up();
  });

  for (const [what, key] of [
    ['the queue of the workers', '{muster}'],
    ['the index of due organizations', 'muster:due'],
  ] as const) {
    it(`a shard without any living node, with ${what}: the others go on, timers and all`, async () => {
      const slot = slotOf(key);
      const master = await ownerOf(fleet.cluster, slot);
      await until(async () => (await master.admin.info('replication')).includes('state=online'));
      const heir = await heirOf(master);
      const hit = await fleet.tenantsOf(master);
      const living = others(hit);
      const quiet = fleet.quiet.filter((tenant) => !hit.has(tenant));
      await Promise.all([heir.kill(), master.kill()]);

      const late: number[] = [];
      const refusals: number[] = [];
      await fleet.underLoad(async () => {
        for (let n = 0; n < 3; n++) {
          late.push(...(await Promise.all(quiet.map(lateness))));
          for (const tenant of hit) {
            const begun = performance.now();
            const { status } = await call(fleet.apis[n % 2]?.url ?? '', tenant.world, '/mailboxes');
            refusals.push(performance.now() - begun);
            expect(status).to.equal(503);
          }
        }
        expect(await readiness()).to.deep.equal([200, 200]);
      }, living);
      await checkAll(living);
      const { ms, failures } = longest(living);
      const worst = Math.round(Math.max(...late));
      console.log(
        `      the others: ${failures} answers 503, the longest refusal ${ms} ms; leases ended ${worst} ms late at most`,
      );
      console.log(`      its own organizations: refused within ${Math.round(Math.max(...refusals))} ms`);
      expect(ms).to.be.at.most(noticeMs);
      expect(worst).to.be.at.most(1_500);
      expect(Math.max(...refusals)).to.be.at.most(refusedMs);

      await Promise.all([master.up(), heir.up()]);
      await fleet.underLoad(() => sleep(500));
      await checkAll(fleet.tenants);
    });
  }

  /** How much later than its moment a lease's end was made real, told by a held watch: nobody else looks. */
  async function lateness(tenant: Tenant): Promise<number> {
    const { world } = tenant;
    const post = (path: string, body: object) => tenant.ask(path, body);
    const scopeId = randomUUID();
    const { body: mailbox } = await post('/mailboxes', { name: 'leased' });
    await post(`/mailboxes/${mailbox.id}/messages`, { scopeId, payload: 1 });
    const recv = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 5 };
    const { body: claim } = await post(`/mailboxes/${mailbox.id}/recv`, recv);
    const filter = `types=message.lease_expired&aggregate=message:${claim.id}&waitSeconds=15`;
    const { events } = (await world.get(`/watch?${filter}`)).body;
    expect(events).to.have.length(1);
    const heard = Date.now() - Date.parse(claim.leaseExpiresAt);
    await post(`/mailboxes/${mailbox.id}/recv`, recv);
    return heard;
  }
});
