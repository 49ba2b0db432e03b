import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { histogram } from '../../src/engine/metrics/scraped.ts';
import { Tally } from '../../src/engine/metrics/traffic.ts';
import { version } from '../../src/package.ts';
import { createSpace } from '../../src/primitives/org/admin.ts';
import type { MusterService } from '../../src/service.ts';
import { exchange } from '../support/exchange.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';
import { Metered, scrape } from './metered.ts';

const spaces = '/v1/spaces/:spaceId';
const scopeId = randomUUID();
const claim = { scopeId, holder: 'agent', holderSession: 's' };

describe('GET /metrics', () => {
  let metered: Metered;
  let service: MusterService;
  let world: World;
  let mailbox: string;

  before(async () => {
    metered = await Metered.start();
    service = await metered.service();
    world = await World.create({ on: service });
    mailbox = `/mailboxes/${(await world.mustPost('/mailboxes', { name: 'jobs' })).id}`;
    for (const payload of [1, 2, 3]) await world.mustPost(`${mailbox}/messages`, { scopeId, payload });
    await world.mustPost(`${mailbox}/recv`, claim);
  });
  after(() => metered.stop());

  it('counts requests by method, route pattern and status, latencies by method and pattern, and refusals by code', async () => {
    const begun = await scrape(service);
    await world.post(`${mailbox}/messages`, { scopeId });
    await world.get('/budgets/no-uuid');
    await world.get(`/budgets/${randomUUID()}`);
    const now = await scrape(service);

    const sent = { method: 'POST', route: `${spaces}/mailboxes/:mailboxId/messages` };
    expect(now.value('muster_http_requests_total', { ...sent, status: '201' })).to.equal(3);
    expect(now.value('muster_http_request_duration_seconds_count', sent)).to.equal(4);
    expect(now.value('muster_http_request_duration_seconds_bucket', { ...sent, le: '5' })).to.equal(4);
    expect(now.value('muster_http_request_duration_seconds_sum', sent)).to.be.within(0.0003, 4);
    expect(now.value('muster_http_requests_total', { ...sent, status: '400' })).to.equal(1);
    const view = { method: 'GET', route: `${spaces}/budgets/:budgetId` };
    expect(now.value('muster_http_requests_total', { ...view, status: '400' })).to.equal(1);
    expect(now.value('muster_http_requests_total', { ...view, status: '404' })).to.equal(1);
    expect(begun.value('muster_refusals_total', { code: 'VALIDATION_FAILED' })).to.equal(0);
    expect(now.value('muster_refusals_total', { code: 'VALIDATION_FAILED' })).to.equal(2);
    expect(now.value('muster_refusals_total', { code: 'BUDGET_NOT_FOUND' })).to.equal(1);
    expect(begun.value('muster_http_responses_total', { class: '5xx' })).to.equal(0);
    const failed = (one: typeof now) => one.value('muster_http_responses_total', { class: '4xx' }) ?? Number.NaN;
    expect(failed(now) - failed(begun)).to.equal(3);
    expect(now.value('muster_script_duration_seconds_count', { script: 'mailbox/send' })).to.equal(3);
    expect(now.value('muster_script_duration_seconds_sum', { script: 'mailbox/send' })).to.be.within(0.0001, 3);
  });

  it('counts a duration in the bucket of its bound and in all larger ones', async () => {
    const tally = new Tally([1, 2]);
    for (const seconds of [1, 1.5, 3]) tally.observe(seconds);
    const metric = histogram('h', '', [1, 2], () => [{ labels: {}, tally }]);
    const { values } = await metric.get();
    expect(values.map(({ labels, value }) => [labels['le'], value])).to.deep.equal([
      [1, 1],
      [2, 2],
      ['+Inf', 3],
      [undefined, 5.5],
      [undefined, 3],
    ]);
  });

  /** A scrape that has read the store, which it does without if the store is slow to answer. */
  async function read() {
    for (;;) {
      const found = await scrape(service);
      if (found.value('muster_spaces_partial') !== undefined) return found;
    }
  }

  it('shows what waits in all organizations, and since when, as the backlog of their spaces does', async () => {
    const other = await World.create({ on: service });
    const inbox = `/mailboxes/${(await other.mustPost('/mailboxes', { name: 'inbox' })).id}`;
    await other.mustPost(`${inbox}/messages`, { scopeId, payload: 1, deadline: new Date(Date.now() + 60_000) });
    const allowance = await world.mustPost('/allowances', { name: 'quota', unitsLimit: 1, windowSeconds: 86_400 });
    await world.mustPost(`/allowances/${allowance.id}/consume`, { scopeId, units: 1, holder: 'a' });
    for (let i = 0; i < 2; i++)
      await world.mustPost(`/allowances/${allowance.id}/wait`, { scopeId, units: 1, holder: 'a' });

    // Organizations where nothing waits must not lower the figures.
    const empty = Array.from({ length: 40 }, (_, i) => `empty-${i}`);
    await service.store.sadd('muster:orgs', ...empty);
    const now = await read();
    await service.store.srem('muster:orgs', ...empty);
    const backlogs = [(await world.get('/backlog')).body, (await other.get('/backlog')).body];
    const sum = (of: (backlog: (typeof backlogs)[0]) => number) => of(backlogs[0]) + of(backlogs[1]);
    expect(now.value('muster_messages', { state: 'READY' }))
      .to.equal(3)
      .and.equal(sum((one) => one.readyMessages));
    expect(now.value('muster_messages', { state: 'CLAIMED' })).to.equal(1);
    expect(now.value('muster_waiters')).to.equal(2);
    expect(now.value('muster_timers'))
      .to.equal(1)
      .and.equal(sum((one) => one.armedTimers));
    for (const state of ['UNREAD', 'PENDING', 'EXHAUSTED'])
      expect(now.value('muster_outbox', { state })).to.equal(sum((one) => one.outbox[state]));
    const age = now.value('muster_oldest_ready_age_seconds') ?? 0;
    expect(age).to.be.greaterThan(0);
    expect(Math.floor(age)).to.be.at.most(backlogs[0].oldestReadyAgeSeconds);
    expect(now.value('muster_oldest_waiter_age_seconds')).to.be.within(0.001, age);
    expect(now.value('muster_sweep_lag_seconds')).to.be.within(0, 5);
    expect([now.value('muster_spaces_read'), now.value('muster_spaces_partial')]).to.deep.equal([2, 0]);
  });

  it('counts delayed messages, requeues, cancels and cancelled runs', async () => {
    const other = await world.anotherSpace();
    const read = async () => {
      const now = await scrape(service);
      expect(now.types.get('muster_events_total')).to.equal('counter');
      const types = ['message.requeued', 'message.cancelled', 'task.requeued', 'task.cancelled', 'scope.cancelled'];
      const counts = types.map((type) => now.value('muster_events_total', { type }) ?? Number.NaN);
      return [now.value('muster_messages', { state: 'DELAYED' }) ?? Number.NaN, ...counts];
    };
    const before = await read();
    for (const tenant of [world, other]) {
      const run = randomUUID();
      const { id } = await tenant.mustPost('/mailboxes', { name: 'stopped', maxAttempts: 1 });
      const send = (more: object = {}) =>
        tenant.mustPost(`/mailboxes/${id}/messages`, { scopeId: run, payload: 1, ...more });
      const failed = await send();
      const { token } = await tenant.mustPost(`/mailboxes/${id}/recv`, { ...claim, scopeId: run });
      await tenant.mustPost(`/messages/${failed.id}/nack`, { token, retry: true });
      await tenant.mustPost(`/messages/${failed.id}/requeue`);
      for (let n = 0; n < 2; n++) await send({ delaySeconds: 3600 });
      const group = await tenant.mustPost('/task-groups', {
        parentScopeId: run,
        mailboxId: id,
        condition: 'ALL_TERMINAL',
      });
      const { messageId } = await tenant.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: 'a' });
      await tenant.mustPost(`/messages/${messageId}/cancel`);
      await tenant.mustPost(`/messages/${messageId}/requeue`);
      if (tenant === other) await tenant.mustPost(`/scopes/${run}/cancel`);
    }
    // In `other` all four messages end with their run; delayed ones stay in `world`.
    const difference = (await read()).map((value, i) => value - (before[i] ?? 0));
    expect(difference).to.deep.equal([2, 4, 2 + 4, 2, 2 + 1, 1]);
  });

  it('tells how far packing lies behind, unless nothing is packed', async () => {
    const lag = async () => (await scrape(service)).value('muster_pack_lag_seconds') ?? Number.NaN;
    expect(await lag()).to.equal(0);
    const old = await world.anotherSpace();
    const at = Date.now() - 9_000_000;
    await service.store.xadd(`${old.prefix}:events`, `${at}-0`, 'mailbox.created', `${randomUUID()} ~ ~ mode=WORK`);
    expect(await lag(), 'it waits for an hour, and for others for another one').to.be.within(1800, 1830);
    await service.packing.packSpace(old.org, old.spaceId);
    expect(await lag()).to.equal(0);
    const behind = await metered.service({ role: 'api', packsMessages: true });
    const late = async () => (await scrape(behind)).value('muster_pack_lag_seconds') ?? Number.NaN;
    expect(await late(), 'messages may wait for a day').to.equal(0);
    const older = await world.anotherSpace();
    const then = Date.now() - 100_000_000;
    await service.store.xadd(`${older.prefix}:events`, `${then}-0`, 'mailbox.created', `${randomUUID()} ~ ~ mode=WORK`);
    await service.packing.packSpace(older.org, older.spaceId);
    expect(await late()).to.be.within(10_000, 10_030);
    await behind.packing.packMessages(older.org, older.spaceId);
    expect(await late()).to.equal(0);
    const never = await metered.service({ role: 'api', sealAfterSeconds: 0 });
    expect((await scrape(never)).value('muster_pack_lag_seconds')).to.equal(undefined);
  });

  it('shows the state of Redis and of the process', async () => {
    const now = await scrape(service);
    for (const name of ['up', 'masters', 'append_only', 'persisting'])
      expect(now.value(`muster_store_${name}`), name).to.equal(1);
    for (const [name, least] of [
      ['memory_bytes', 100_000],
      ['clients', 1],
      ['commands_total', 100],
    ] as const)
      expect(now.value(`muster_store_${name}`), name).to.be.greaterThan(least);
    expect(now.value('muster_store_evicted_keys_total')).to.equal(0);
    expect(now.value('muster_store_memory_ratio')).to.equal(undefined);
    await service.store.config('SET', 'maxmemory', String(2 ** 30));
    expect((await scrape(service)).value('muster_store_memory_ratio')).to.be.within(0.0001, 0.5);
    await service.store.config('SET', 'maxmemory', '0');
    expect(now.value('muster_info', { version, role: 'all' })).to.equal(1);
    expect(now.types.get('nodejs_eventloop_lag_p99_seconds')).to.equal('gauge');
    expect(now.value('process_resident_memory_bytes')).to.be.greaterThan(1e7);
  });

  it('counts held receives and watches while they are held', async () => {
    const empty = await world.mustPost('/mailboxes', { name: 'empty' });
    const receives = [1, 2].map(() => world.post(`/mailboxes/${empty.id}/recv`, { ...claim, waitSeconds: 20 }));
    const watch = world.get('/watch?cursor=latest&types=message.*&waitSeconds=20');
    await until(() => service.wake.size >= 2 && service.feeds.size > 0);
    const now = await scrape(service);
    expect(now.value('muster_held_requests', { kind: 'receive' })).to.equal(2);
    expect(now.value('muster_held_requests', { kind: 'watch' })).to.equal(1);
    for (const payload of [1, 2]) await world.mustPost(`/mailboxes/${empty.id}/messages`, { scopeId, payload });
    for (const { status } of await Promise.all([...receives, watch])) expect(status).to.equal(200);
    const later = await scrape(service);
    expect(later.value('muster_held_requests', { kind: 'receive' })).to.equal(0);
  });

  it('adds no series for unknown paths, methods and keys, and names no organization, space or key', async () => {
    const probe = async (path: string, method: string, n: number) => {
      const headers = { Authorization: `Bearer mk_nobody-${n}_${'x'.repeat(43)}` };
      await (await fetch(`${service.url}${path}`, { method, headers })).arrayBuffer();
    };
    const round = async (n: number) => {
      await probe(`/${n}/${randomUUID()}`, 'GET', n);
      await probe(`/v1/spaces/${randomUUID()}/x-${n}`, 'POST', n);
      await probe(`/v1/spaces/${randomUUID()}/mailboxes/${randomUUID()}/messages`, 'GET', n);
      await probe(`/metrics?${n}`, n % 2 ? 'PROPFIND' : 'MKCOL', n);
    };
    await round(0);
    await round(1);
    await scrape(service);
    const begun = await scrape(service);
    await Promise.all(Array.from({ length: 20 }, (_, i) => round(2 + i)));
    const now = await scrape(service);
    // The first garbage collection of a kind adds a series, whoever calls.
    const added = [...now.series()].filter((one) => !begun.series().has(one) && !one.startsWith('nodejs_gc_'));
    expect(added).to.deep.equal([]);
    const unmatched = { method: 'GET', route: 'unmatched', status: '404' };
    expect(now.value('muster_http_requests_total', unmatched)).to.equal(22);
    const others = now.samples.filter(
      ({ name, labels }) => /requests_total$/.test(name) && labels['method'] === 'OTHER',
    );
    expect(others.map(({ value }) => value)).to.deep.equal([22]);
    for (const name of [world.org, world.spaceId, world.apiKey, scopeId, 'nobody', 'PROPFIND'])
      expect(now.text, name).to.not.include(name);
  });

  it('reads at most 50 spaces of an organization and 200 organizations, and reports if there are more', async () => {
    const more = Array.from({ length: 300 }, (_, i) => `more-${i}`);
    await service.store.sadd('muster:orgs', ...more);
    expect((await read()).value('muster_spaces_partial')).to.equal(1);
    await service.store.srem('muster:orgs', ...more);
    expect((await read()).value('muster_spaces_partial')).to.equal(0);
    for (let n = 0; n < 50; n++) await createSpace(service, { org: world.org });
    const now = await read();
    expect([now.value('muster_spaces_read'), now.value('muster_spaces_partial')]).to.deep.equal([51, 1]);
  });

  it('is made at most once a second for all who ask, and reads the store less often', async () => {
    const calm = await metered.service({ role: 'api', metricsMaxAgeMs: 600_000 });
    const texts = await Promise.all(Array.from({ length: 40 }, async () => (await scrape(calm)).text));
    // One, or two if a second ends meanwhile; more on a machine that stands still.
    expect(new Set(texts).size).to.be.at.most(20);
    const reads = async () =>
      (await scrape(calm)).value('muster_script_duration_seconds_count', { script: 'space/depths' });
    await until(async () => (await reads()) !== undefined);
    const begun = await reads();
    for (let n = 0; n < 2; n++) {
      const { text } = await scrape(calm);
      await until(async () => (await scrape(calm)).text !== text);
      expect(await reads()).to.equal(begun);
    }
  });

  it('is compressed for those who take that, as the description of the API is', async () => {
    for (const path of ['/metrics', '/openapi.json']) {
      const get = (headers: Record<string, string>) => exchange('GET', service.url + path, headers);
      const zipped = await get({ 'Accept-Encoding': 'gzip' });
      expect(zipped.headers.get('Content-Encoding')).to.equal('gzip');
      const plain = await get({});
      expect(plain.headers.get('Content-Encoding')).to.equal(null);
      expect(Number(zipped.headers.get('Content-Length'))).to.be.below(Number(plain.headers.get('Content-Length')) / 4);
    }
    const { headers } = await exchange('GET', `${service.url}/openapi.json`, {});
    const again = { 'If-None-Match': headers.get('ETag') ?? '' };
    expect(await exchange('GET', `${service.url}/openapi.json`, again)).to.include({ status: 304, text: '' });
  });
});
