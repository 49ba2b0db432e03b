import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { createSnapshot } from '../../src/jobs/snapshot/create.ts';
import { snapshotFolder } from '../../src/jobs/snapshot/folder.ts';
import { SnapshotWatch } from '../../src/jobs/snapshot/health.ts';
import { ClaimAges } from '../../src/jobs/workers/claim-ages.ts';
import { LateDestinations } from '../../src/jobs/workers/late-destinations.ts';
import { snapshotJob } from '../../src/jobs/workers/workers.ts';
import { setPlan } from '../../src/primitives/org/admin.ts';
import type { MusterService } from '../../src/service.ts';
import { until } from '../support/processes.ts';
import { overrides, World } from '../support/world.ts';
import { Metered, scrape } from './metered.ts';

const scopeId = randomUUID();

describe('GET /metrics on workers', () => {
  let metered: Metered;
  let service: MusterService;
  before(async () => {
    metered = await Metered.start();
    service = await metered.service({ role: 'api', overrides });
  });
  after(() => metered.stop());
  const value = async (name: string, of = service): Promise<number> => (await scrape(of)).value(name) ?? Number.NaN;

  it('tells for how long no worker has run, also where none ever has and nothing is due', async () => {
    const [lag, later] = [await value('muster_worker_lag_seconds'), await value('muster_worker_lag_seconds')];
    expect(later).to.be.greaterThan(lag);
    expect(await value('muster_sweep_lag_seconds')).to.equal(0);
    const worker = await metered.service({ role: 'worker', metricsPort: 0 });
    await until(async () => (await value('muster_worker_lag_seconds')) === 0);
    expect(await value('muster_worker_lag_seconds', worker)).to.equal(0);
    // As after half an hour without a worker.
    await service.store.set('muster:round:repair', Date.now() - 1_800_000);
    expect(await value('muster_worker_lag_seconds')).to.be.within(1800, 1830);
    await worker.stop();
  });

  it('tells how old the oldest claim is by its first moment, however often it has been renewed', async () => {
    const world = await World.create({ on: service });
    const ages = new ClaimAges(service.store, service.scripts, { stepSize: 2, maxSteps: 10 });
    await ages.look();
    expect(await service.store.exists('muster:oldestClaim')).to.equal(0);
    const start = Date.now();
    await world.at(start - 500_000);
    const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
    for (let n = 0; n < 9; n++) await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: n });
    const receive = (max: number) =>
      world.mustPost(`/mailboxes/${id}/recv`, { scopeId, max, holder: 'a', holderSession: 's', leaseSeconds: 600 });
    const { messages } = await receive(1);
    await world.at(start - 60_000);
    // All at once, so that several pages end at the same moment.
    await receive(7);
    await world.mustPost(`/messages/${messages[0].id}/renew`, { token: messages[0].token, leaseSeconds: 600 });
    await world.at(start);
    // A name without an organization, and an organization without claims.
    await service.store.sadd('muster:orgs', 'interrupted');
    await World.create({ on: service });
    await new ClaimAges(service.store, service.scripts, { stepSize: 2, maxSteps: 10 }).look();
    await service.store.srem('muster:orgs', 'interrupted');
    expect(await value('muster_oldest_claim_age_seconds')).to.be.within(500, 530);
    expect(await service.store.pttl('muster:oldestClaim')).to.be.within(200_000, 300_000);
    await world.mustPost(`/messages/${messages[0].id}/complete`, { token: messages[0].token });
    await new ClaimAges(service.store, service.scripts).look();
    expect(await value('muster_oldest_claim_age_seconds')).to.be.within(60, 90);
    await world.mustPost(`/scopes/${scopeId}/cancel`);
    await new ClaimAges(service.store, service.scripts).look();
    expect(await value('muster_oldest_claim_age_seconds')).to.equal(0);
  });

  it('tells by destination how many events wait and for how long, without names if anyone can read it', async () => {
    const named = await metered.service({ role: 'api', metricsPort: 0, overrides });
    const world = await World.create({ on: service });
    const late = new LateDestinations(service.store, service.scripts);
    const kinds = ['lag_seconds', 'waiting', 'unread'];
    const shown = async (destination: string) => {
      await late.look();
      const seen = await scrape(named);
      return kinds.map((kind) =>
        seen.value(`muster_destination_${kind}`, { org: world.org, space: world.spaceId, destination }),
      );
    };
    const register = async (eventTypes: string[]): Promise<string> =>
      (await world.mustPost('/destinations', { url: 'https://example.com/', eventTypes })).id;
    const start = Date.now();
    await world.at(start - 7_200_000);
    const [wanting, other] = [await register(['mailbox.created']), await register(['budget.created'])];
    expect(await shown(wanting)).to.deep.equal([undefined, undefined, undefined]);
    expect(await service.store.exists('muster:lateDestinations')).to.equal(0);
    await world.mustPost('/mailboxes', { name: randomUUID() });
    await world.at(start);
    const [lag, ...counts] = await shown(wanting);
    expect(lag).to.be.within(7_200, 7_230);
    expect(counts, 'no worker has read it').to.deep.equal([0, 1]);
    expect(await shown(other), 'nothing for it').to.deep.equal([undefined, undefined, undefined]);
    const args = { spaceId: world.spaceId, requestId: '', maxEntries: 10, opened: '' };
    await service.scripts.execute('webhook/dispatch', world.org, args);
    expect((await shown(wanting)).slice(1)).to.deep.equal([1, 0]);
    expect(await value('muster_destination_waiting')).to.equal(1);
    expect((await scrape(service)).text).to.not.include(wanting);
    expect(await service.store.pttl('muster:lateDestinations')).to.be.within(200_000, 300_000);
    await world.call('PATCH', `/destinations/${wanting}`, { state: 'DISABLED' });
    expect(await shown(wanting)).to.deep.equal([undefined, undefined, undefined]);
    expect(await value('muster_destination_lag_seconds')).to.equal(0);
  });

  it('tells which share of its rate an organization, or one of its spaces, has used in this minute', async () => {
    const ratio = async (org: string) => (await scrape(named)).value('muster_rate_used_ratio', { org });
    const named = await metered.service({ role: 'api', metricsPort: 0, overrides });
    const world = await World.create({ on: named, limits: { requestsPerMinute: 10 } });
    const at = Math.ceil(Date.now() / 60_000) * 60_000;
    await world.at(at);
    expect(await ratio(world.org)).to.equal(0);
    for (let n = 0; n < 3; n++) expect((await world.get('/budgets')).status).to.equal(200);
    expect(await ratio(world.org)).to.equal(0.3);
    for (let n = 0; n < 9; n++) await world.get('/budgets');
    expect(await ratio(world.org)).to.equal(1);
    expect(await value('muster_rate_used_ratio'), 'the highest, without names').to.equal(1);
    await world.at(at + 60_000);
    expect(await ratio(world.org)).to.equal(0);
    await setPlan(named, { org: world.org, plan: 'enterprise', figures: { rpm: '4' } });
    await world.get('/budgets');
    expect(await ratio(world.org), "the plan's").to.equal(0.25);
  });

  it('tells how old the newest snapshot is, and that one failed until there is one since', async () => {
    const folder = snapshotFolder(metered.store.dataDir);
    const options = { folder, keep: 1, intervalSeconds: 3600, embedded: true };
    const watch = new SnapshotWatch(options);
    const job = snapshotJob(service.store, options, pino({ level: 'silent' }), watch);
    const never = await watch.read();
    expect(never).to.include({ intervalSeconds: 3600, isFailing: false });
    expect((await watch.read()).ageSeconds).to.be.at.least(never.ageSeconds);
    await service.store.call('ACL', 'SETUSER', 'default', '-bgsave');
    await job.run(new AbortController().signal);
    expect((await watch.read()).isFailing, 'refused').to.equal(true);
    await service.store.call('ACL', 'SETUSER', 'default', '+bgsave');
    await createSnapshot(service.store, options);
    expect(await watch.read()).to.deep.include({ isFailing: false });
    await mkdir(join(metered.store.dataDir, 'dump.rdb'));
    await job.run(new AbortController().signal).catch(() => undefined);
    expect((await watch.read()).isFailing, 'failed').to.equal(true);
    await rm(join(metered.store.dataDir, 'dump.rdb'), { recursive: true });
    await job.run(new AbortController().signal);
    expect((await watch.read()).isFailing, 'made').to.equal(false);
  });

  it('has no figures of snapshots where none are made', async () => {
    const names = (await scrape(service)).samples.map(({ name }) => name);
    expect(names.filter((name) => name.startsWith('muster_snapshot'))).to.deep.equal([]);
    const worker = await metered.service({
      role: 'worker',
      metricsPort: 0,
      snapshots: { folder: snapshotFolder(metered.store.dataDir), keep: 1, intervalSeconds: 7200, embedded: true },
    });
    expect(await value('muster_snapshot_interval_seconds', worker)).to.equal(7200);
    expect(await value('muster_snapshot_failing', worker)).to.equal(0);
    expect(await value('muster_snapshot_age_seconds', worker)).to.be.within(0, 60);
  });
});
