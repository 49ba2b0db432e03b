import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { startService } from '../../src/service.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { World } from '../support/world.ts';
import { SettableClock } from './faketime.ts';
import { Lab, type Tenant } from './lab.ts';
import { soundUnder } from './under-load.ts';
import type { Workload } from './workload.ts';

const hourSeconds = 3_600;
const leaseMs = 5_000;
/** The second within which workers notice a due moment, and one for a busy machine. */
const sweepMs = 2_000;

/** Makes something, and returns what repeats the call: it must be answered as the first time. */
async function remembered(load: Workload, tenant: Tenant): Promise<() => Promise<void>> {
  const [path, body] = ['/mailboxes', { name: 'remembered' }];
  const object = ({ id }: { id: string }): string => `mailbox ${id}`;
  const first = await load.call(-1, tenant, { kind: 'create mailbox', object, path, body });
  const operation = load.history.find((one) => one.object === object(first.body));
  return async () => {
    const again = await load.caller.insist(tenant, path, operation?.id ?? '', body);
    expect(again).to.deep.equal(first);
  };
}

/** Claims a message and walks away; resolves with how long after its lease the worker, alone, made it ready again. */
async function lateSweep(lab: Lab, load: Workload, tenant: Tenant): Promise<number> {
  const created = await load.call(-1, tenant, {
    kind: 'create mailbox',
    object: ({ id }) => `mailbox ${id}`,
    path: '/mailboxes',
    body: { name: 'left' },
  });
  const queue = { access: tenant, mailboxId: created.body.id, scopeId: randomUUID() };
  load.queues.push(queue);
  await load.call(-1, tenant, {
    kind: 'send',
    object: ({ id }) => `message ${id}`,
    path: `/mailboxes/${queue.mailboxId}/messages`,
    body: { scopeId: queue.scopeId, payload: 1 },
  });
  const claim = await load.claim(-1, queue);
  const claimed = performance.now();
  const key = `muster:{${tenant.org}}:1:message:${claim?.id}`;
  // The store is asked, not the API: a call would make real what is due by itself.
  while ((await lab.redis.link.hget(key, 'state')) !== 'READY') {
    expect(performance.now() - claimed, 'the sweep').to.be.below(leaseMs + sweepMs);
    await sleep(20);
  }
  return performance.now() - claimed - leaseMs;
}

describe('A store whose clock is set', function () {
  this.timeout(120_000);
  let folder: string;
  let clock: SettableClock;
  let lab: Lab;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-clock-'));
    clock = await SettableClock.in(folder);
    lab = await Lab.opened({}, clock.env);
  });
  after(async () => {
    await lab?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function aheadSeconds(): Promise<number> {
    const [seconds] = await lab.redis.link.time();
    return Math.round(Number(seconds) - Date.now() / 1000);
  }

  it('an hour forward, and back: leases may end early or late, and nothing else changes', async () => {
    await soundUnder(lab, 'the clock set forward and back', async (load) => {
      const [tenant] = lab.tenants;
      if (!tenant) throw new Error('nobody was admitted');
      await sleep(4_000);
      const repeats = [await remembered(load, tenant)];
      await clock.set(hourSeconds);
      expect(await aheadSeconds()).to.be.closeTo(hourSeconds, 1);
      await sleep(5_000);
      repeats.push(await remembered(load, tenant));
      await clock.set(0);
      expect(await aheadSeconds()).to.be.closeTo(0, 1);
      await sleep(5_000);
      for (const repeat of repeats) await repeat();
      await load.finish();
      // Leases that were taken in the hour to come stand last: none of them may hold up the others.
      const late = await Promise.all(lab.tenants.map((one) => lateSweep(lab, load, one)));
      const left = Number(await lab.redis.link.zcard('muster:due'));
      console.log(
        `      back again: leases ended at most ${Math.max(...late).toFixed(0)} ms late, ${left} organizations due later`,
      );
      // The hour has come: what waits for it ends now.
      await clock.set(hourSeconds);
      for (const repeat of repeats) await repeat();
      return { clock: 'jumping' };
    });
  });

  it('eight days forward: retention and packing look in their next round, though they found nothing in their last', async () => {
    await clock.set(0);
    const alone = await Lab.start({}, clock.env);
    const log = pino({ level: 'silent' });
    const settings = { role: 'api', host: '127.0.0.1', port: 0, log, sealAfterSeconds: 3_600 } as const;
    const service = await startService({ redisUrl: alone.redis.url, ...settings });
    try {
      const queue = await Queue.create({}, await World.create({ on: service, plan: 'free', limits: {} }));
      const id = await queue.sent();
      await queue.act('complete', await queue.claim());
      const rounds = async (): Promise<void> => {
        await service.packing.packAll(new AbortController().signal);
        await service.retention.retainAll();
      };
      const status = async (): Promise<number> => (await queue.world.get(`/messages/${id}`)).status;
      await rounds();
      expect(await status()).to.equal(200);
      await clock.set(8 * 24 * hourSeconds);
      await rounds();
      expect(await status()).to.equal(404);
      expect(await alone.redis.link.xlen(`${queue.world.prefix}:events`), 'events that are not packed').to.equal(0);
      // Set back: what was noted in the days to come does not count.
      await clock.set(0);
      await queue.sent();
      await clock.set(2 * hourSeconds);
      await rounds();
      expect(await alone.redis.link.xlen(`${queue.world.prefix}:events`), 'events that are not packed').to.equal(0);
    } finally {
      await service.stop();
      await alone.stop();
    }
  });
});
