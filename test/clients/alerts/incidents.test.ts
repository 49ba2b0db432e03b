import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { MusterProcess } from '../../support/processes.ts';
import { until } from '../../support/processes.ts';
import { Sink } from '../../support/sink.ts';
import type { World } from '../../support/world.ts';
import { Fleet } from './fleet.ts';
import { shippedRules } from './rules.ts';

const scopeId = randomUUID();
const claim = { scopeId, holder: 'agent', holderSession: 's' };

/** Each incident makes the shipped alerts for it fire, with short windows, and the remedy resolves them. */
describe('A real Prometheus', function () {
  this.timeout(500_000);
  let fleet: Fleet;
  let first: MusterProcess;
  let second: MusterProcess;
  let worker: MusterProcess;
  let world: World;
  let held: { id: string; token: string };
  before(async () => {
    fleet = await Fleet.start();
  });
  after(() => fleet.stop());
  const mailbox = async (of: World, more: object = {}): Promise<string> =>
    (await of.mustPost('/mailboxes', { name: randomUUID(), ...more })).id;

  it('tells of a service that does not run, and of one without a worker', async () => {
    await fleet.fires('MusterDown');
    [first, second] = [await fleet.run('api'), await fleet.run('api')];
    await fleet.resolves('MusterDown');
    world = await fleet.space(first.url);
    const id = await mailbox(world);
    await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
    held = await world.mustPost(`/mailboxes/${id}/recv`, claim);
    fleet.keep(5_000, () => world.mustPost(`/messages/${held.id}/renew`, { token: held.token }));
    await fleet.fires('MusterNoWorker');
    worker = await fleet.run('worker');
    await fleet.resolves('MusterNoWorker');
  });

  it('fires nothing while all is well', async () => {
    fleet.keep(20, async () => {
      await world.get('/budgets');
    });
    const passed = new Set(fleet.fired);
    await fleet.resolves(...shippedRules().map(({ alert }) => alert));
    // Long enough for the number of processes to be known from before.
    await sleep(30_000);
    expect([...(await fleet.firing())]).to.deep.equal([]);
    expect([...fleet.fired]).to.deep.equal([...passed]);
  });

  it('tells of one process of several that was killed, and of one that is no target any longer', async () => {
    await second.end('SIGKILL');
    await fleet.fires('MusterProcessDown');
    await fleet.forget(second);
    await fleet.resolves('MusterProcessDown');
    await fleet.fires('MusterProcessGone');
    second = await fleet.run('api');
    await fleet.resolves('MusterProcessGone');
  });

  it('tells of all that stands still without a worker, and of a claim that is renewed for ever', async () => {
    // A call of an organization also does what is due in it.
    const other = await fleet.space(second.url, { maxBacklog: 100_000 }, 'still');
    const sink = await Sink.start();
    await other.mustPost('/destinations', { url: sink.url, eventTypes: ['budget.created'] });
    await worker.end('SIGKILL');
    await fleet.forget(worker);
    const id = await mailbox(other, { backlogLimit: 100_000 });
    const schedule = await other.mustPost('/schedules', {
      name: 's',
      mailboxId: id,
      scopeId,
      payload: 1,
      everySeconds: 5,
    });
    const deadline = new Date(Date.now() + 2_000);
    await other.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1, deadline });
    for (let n = 0; n < 102; n++) {
      const send = { call: 'message.send', mailboxId: id, scopeId, payload: n };
      await other.mustPost('/batch', { calls: Array.from({ length: 100 }, () => send) });
    }
    const old = `${Date.now() - 9_000_000}-0`;
    const third = await fleet.space(second.url);
    await fleet.store.xadd(`${third.prefix}:events`, old, 'mailbox.created', `${randomUUID()} ~ ~ mode=WORK`);
    const late = [
      'MusterSweepLag',
      'MusterScheduleLag',
      'MusterMessagesWait',
      'MusterOutboxBehind',
      'MusterPackingBehind',
    ];
    fleet.fired.delete('MusterNoWorker');
    await fleet.fires('MusterNoWorker', 'MusterClaimHeld', ...late);
    worker = await fleet.run('worker');
    await other.call('DELETE', `/schedules/${schedule.id}`);
    for (let cursor = ''; cursor !== null; )
      cursor = (await other.mustPost(`/mailboxes/${id}/purge`, cursor === '' ? {} : { cursor })).nextCursor;
    await world.mustPost(`/messages/${held.id}/complete`, { token: held.token });
    await fleet.resolves('MusterNoWorker', 'MusterProcessGone', 'MusterClaimHeld', ...late);
    await sink.stop();
  });

  it('tells of a Redis that is away, hangs, or is slow', async () => {
    await fleet.stopRedis();
    await fleet.fires('MusterStoreDown', 'MusterErrors');
    await fleet.startRedis();
    await fleet.resolves('MusterStoreDown', 'MusterErrors');
    await until(async () => (await world.get('/budgets')).status === 200);
    const stop = fleet.keep(100, async () => {
      await fleet.store.call('CLIENT', 'PAUSE', '700', 'ALL');
    });
    await fleet.fires('MusterSlow', 'MusterScriptsSlow');
    await stop();
    await fleet.resolves('MusterSlow', 'MusterScriptsSlow');
  });

  it('tells of a Redis that is full, evicts, keeps no log, or cannot write, and of the snapshots that it refuses', async () => {
    const { store } = fleet;
    const used = async () => Number(/^used_memory:(\d+)/m.exec(await store.info('memory'))?.[1]);
    for (let n = 0; n < 2_000; n++) await store.set(`junk:${n}`, 'x'.repeat(10_000), 'EX', 3_600);
    await store.config('SET', 'maxmemory', String(Math.round((await used()) * 1.1)));
    await fleet.fires('MusterStoreMemory');
    await store.config('SET', 'maxmemory-policy', 'volatile-random');
    await store.config('SET', 'maxmemory', String((await used()) - 5_000_000));
    await fleet.fires('MusterStoreEvicting');
    await store.config('SET', 'maxmemory', '0');
    await store.config('SET', 'maxmemory-policy', 'noeviction');
    await fleet.resolves('MusterStoreMemory', 'MusterStoreEvicting');
    await store.config('SET', 'appendonly', 'no');
    await store.call('ACL', 'SETUSER', 'default', '-bgsave');
    await fleet.fires('MusterStoreNoLog', 'MusterSnapshotFails', 'MusterSnapshotOld');
    await store.config('SET', 'appendonly', 'yes');
    await store.call('ACL', 'SETUSER', 'default', '+bgsave');
    await fleet.resolves('MusterStoreNoLog', 'MusterSnapshotFails', 'MusterSnapshotOld');
    const obstacle = join(fleet.dataDir, 'dump.rdb');
    await rm(obstacle, { force: true });
    await mkdir(obstacle);
    await fleet.fires('MusterStoreNotPersisting');
    await rm(obstacle, { recursive: true });
    await fleet.resolves('MusterStoreNotPersisting', 'MusterSnapshotFails');
  });

  it('tells of a space at its limits and its rate, of budgets, and of work that fails', async () => {
    const small = await fleet.space(first.url, { maxBacklog: 1 });
    const id = await mailbox(small, { maxAttempts: 1 });
    const send = (payload: unknown = 1) => small.post(`/mailboxes/${id}/messages`, { scopeId, payload });
    await send();
    // Also in a batch.
    const calls = [{ call: 'message.send', mailboxId: id, scopeId, payload: 1 }];
    expect((await small.post('/batch', { calls })).body.results[0].body.error.code).to.equal('BACKLOG_FULL');
    await fleet.fires('MusterLimitReached');
    await small.mustPost(`/messages/${(await small.mustPost(`/mailboxes/${id}/recv`, claim)).id}/cancel`);
    await send('x'.repeat(90));
    await small.call('PUT', '/limits', { maxRetainedBytes: 100 });
    const { id: messageId, token } = await small.mustPost(`/mailboxes/${id}/recv`, claim);
    await small.mustPost(`/messages/${messageId}/nack`, { token, retry: false });
    const budget = async (limitMinor: string) =>
      (await small.mustPost('/budgets', { name: randomUUID(), currency: 'EUR', scale: 2, limitMinor })).id;
    const purse = await budget('10');
    const reserve = (amountMinor: string) =>
      small.post(`/budgets/${purse}/reserve`, { scopeId, holder: 'a', amountMinor });
    expect((await reserve('11')).body.error.code).to.equal('INSUFFICIENT_BUDGET');
    const cost = { reservationId: (await reserve('10')).body.id, amountMinor: '20', workKey: 'w', overrun: true };
    await small.mustPost(`/budgets/${purse}/settle`, cost);
    const eager = await fleet.space(first.url, { requestsPerMinute: 20 });
    const stop = fleet.keep(100, () => eager.get('/budgets'));
    const alerts = ['MusterRetainedBytes', 'MusterWorkFails', 'MusterBudgetUsedUp', 'MusterBudgetOverdrawn'];
    await fleet.fires('MusterRateLimited', 'MusterRateNearlyUsed', ...alerts);
    await stop();
    await small.call('PUT', '/limits', { maxRetainedBytes: 1_000_000 });
    await fleet.resolves('MusterLimitReached', 'MusterRateLimited', 'MusterRateNearlyUsed', ...alerts);
  });

  it('tells of webhooks that fail and are given up, and of a busy process', async () => {
    const sink = await Sink.start();
    sink.answer = (response) => response.writeHead(500).end();
    const other = await fleet.space(first.url);
    const { id } = await other.mustPost('/destinations', { url: sink.url, eventTypes: ['mailbox.created'] });
    await mailbox(other);
    // The event loop stands still while the process is stopped.
    const stop = fleet.keep(50, async () => {
      second.signal('SIGSTOP');
      await sleep(250);
      second.signal('SIGCONT');
    });
    await fleet.fires('MusterWebhooksFail', 'MusterWebhooksLate', 'MusterEventLoopLag');
    await stop();
    await other.call('PATCH', `/destinations/${id}`, { state: 'DISABLED' });
    await fleet.fires('MusterWebhooksUndelivered');
    await fleet.resolves(
      ...['MusterWebhooksFail', 'MusterWebhooksLate', 'MusterWebhooksUndelivered', 'MusterEventLoopLag'],
    );
    await sink.stop();
  });

  it('has made every shipped alert fire and resolve', () => {
    expect([...fleet.fired]).to.have.members(shippedRules().map(({ alert }) => alert));
  });
});
