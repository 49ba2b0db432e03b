import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type ClusterNode, nodeTimeoutMs } from '../support/cluster.ts';
import { Pace } from '../support/pace.ts';
import { call, until } from '../support/processes.ts';
import { Sink } from '../support/sink.ts';
import { Fleet, longest } from './fleet.ts';
import { ownerOf, replicasOf, slotOf } from './slots.ts';
import type { Tenant } from './tenant.ts';

/** What an organization on a living shard may notice of another shard's death. */
const noticeMs = 1_000;
/** How far behind the replica is whose master dies. */
const lagMs = 600;
/** What a call to a dead shard may take to be refused. */
const refusedMs = 1_500;
/** The same of a shard that takes connections, but does not answer. */
const hangingMs = 4_000;
/** How late leases and timers of living shards may be. */
const lateMs = 2_000;
/** What a worker may take to stop meanwhile. */
const stopMs = 6_000;

describe('Masters of a cluster that die under load', function () {
  this.timeout(180_000);
  let fleet: Fleet;
  let sink: Sink;
  /** Of the machine as each test begins, without the load of the test. */
  let pace: Pace;
  beforeEach(async () => {
    pace = await Pace.begin();
  });

  before(async () => {
    fleet = await Fleet.start();
    sink = await Sink.start();
  });
  after(async () => {
    await fleet.stop();
    await sink.stop();
  });

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
      // A replica that lags; without this, one on the same machine has everything.
      await heir.admin.config('SET', 'masteruser', 'nobody', 'masterauth', 'nothing');
      await heir.admin.call('CLIENT', 'KILL', 'TYPE', 'master');
      const sent = () => [...hit].reduce((sum, tenant) => sum + tenant.sent.size, 0);
      const replicated = sent();
      await sleep(lagMs);
      await until(async () => sent() > replicated);
      for (const tenant of hit) tenant.isTorn = true;
      await master.kill();
      killedAt = Date.now();
      await heir.admin.config('SET', 'masteruser', '', 'masterauth', '');
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
    console.log(
      `      acknowledged sends lost with it: ${lost.length}, of the last ${tailMs} ms (its replica lagged by ${lagMs} ms)`,
    );
    console.log(`      the others: ${here.failures} answers 503, the longest refusal ${here.ms} ms`);
    await master.up();
    await pace.expect(here.ms, noticeMs);
    expect(tailMs).to.be.at.least(1);
    await pace.expect(tailMs, 2 * lagMs);
  });

  const shards = [
    ['the queue of the workers', '{muster}', 'dies'],
    ['the index of due organizations', 'muster:due', 'dies'],
    ['the queue of the workers', '{muster}', 'hangs'],
    ['the index of due organizations', 'muster:due', 'hangs'],
  ] as const;
  for (const [what, key, how] of shards) {
    it(`a shard without a replica ${how}, with ${what}: the others go on, leases and webhooks too`, async () => {
      const master = await ownerOf(fleet.cluster, slotOf(key));
      await until(async () => (await master.admin.info('replication')).includes('state=online'));
      const heir = await heirOf(master);
      const hit = await fleet.tenantsOf(master);
      const living = others(hit);
      const quiet = fleet.quiet.filter((tenant) => !hit.has(tenant));
      await heir.kill();
      if (how === 'dies') await master.kill();
      else master.hang();

      const late: Lateness[] = [];
      const refusals: number[] = [];
      await fleet.underLoad(async () => {
        for (let n = 0; n < 2; n++) {
          late.push(...(await Promise.all(quiet.map(lateness))));
          const url = fleet.apis[n]?.url ?? '';
          const refuse = async ({ world }: Tenant): Promise<void> => {
            const begun = performance.now();
            const { status } = await call(url, world, '/mailboxes');
            refusals.push(performance.now() - begun);
            expect(status).to.equal(503);
          };
          await Promise.all([...hit].map(refuse));
        }
        expect(await readiness()).to.deep.equal([200, 200]);
      }, living);
      await checkAll(living);
      const { ms, slowest, failures } = longest(living);
      const worst = (name: keyof Lateness): number => Math.max(...late.map((one) => one[name]));
      const refused = Math.round(Math.max(...refusals));
      console.log(
        `      the others: ${failures} answers 503, the longest refusal ${ms} ms, the slowest call ${slowest} ms`,
      );
      console.log(
        `      their leases ended ${worst('swept')} ms late at most, and were delivered ${worst('delivered')} ms late`,
      );
      console.log(`      its own organizations: refused within ${refused} ms`);
      await pace.expect(Math.max(ms, slowest), noticeMs, 'ms that the others notice');
      await pace.expect(worst('swept'), lateMs, 'ms that leases end late');
      await pace.expect(refused, how === 'dies' ? refusedMs : hangingMs, 'ms to be refused');

      const begun = performance.now();
      const { status } = await fleet.worker.end('SIGTERM');
      const stoppedMs = Math.round(performance.now() - begun);
      console.log(`      the worker stopped within ${stoppedMs} ms`);
      expect(status).to.equal(0);
      await pace.expect(stoppedMs, stopMs, 'ms to stop');

      if (how === 'dies') await master.up();
      else master.goOn();
      await Promise.all([heir.up(), fleet.startWorker()]);
      await fleet.underLoad(() => sleep(500));
      await checkAll(fleet.tenants);
    });
  }

  /** How much later than its moment a lease's end was made real and delivered: nobody calls but for a held watch. */
  async function lateness({ world }: Tenant): Promise<Lateness> {
    const scopeId = randomUUID();
    const path = `/${scopeId}`;
    await world.mustPost('/destinations', { url: `${sink.url}${path}`, eventTypes: ['message.lease_expired'] });
    const mailbox = await world.mustPost('/mailboxes', { name: 'leased' });
    await world.mustPost(`/mailboxes/${mailbox.id}/messages`, { scopeId, payload: 1 });
    const recv = { scopeId, holder: 'h', holderSession: 's', leaseSeconds: 5 };
    const claim = await world.mustPost(`/mailboxes/${mailbox.id}/recv`, recv);
    const since = (): number => Date.now() - Date.parse(claim.leaseExpiresAt);
    const watch = async (): Promise<number> => {
      const { events } = (await world.get(`/watch?types=message.lease_expired&scopeId=${scopeId}&waitSeconds=15`)).body;
      expect(events).to.have.length(1);
      return since();
    };
    const [swept, delivered] = await Promise.all([watch(), sink.got(1, path).then(since)]);
    return { swept, delivered };
  }
});

interface Lateness {
  readonly swept: number;
  readonly delivered: number;
}
