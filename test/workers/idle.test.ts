import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { emptyStore } from '../redis/empty-store.ts';
import { readCommands } from '../support/commands.ts';
import { World } from '../support/world.ts';

const idleSeconds = 10;

/** On the real clock and a store that has nothing else. */
describe('An idle service', () => {
  const services: MusterService[] = [];

  before(async () => {
    const { url: redisUrl } = await emptyStore();
    const options = { redisUrl, host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) };
    services.push(await startService({ ...options, role: 'all', webhookAllowPrivate: true }));
    services.push(await startService({ ...options, role: 'worker' }));
  });
  after(async () => {
    for (const service of services) await service.stop();
  });

  const writes = async (redis: Redis): Promise<ReadonlySet<string>> =>
    new Set((await redis.call('COMMAND', 'LIST', 'FILTERBY', 'ACLCAT', 'write')) as string[]);
  const logBytes = async (redis: Redis): Promise<number> =>
    Number(/^aof_current_size:(\d+)/m.exec(await redis.info('persistence'))?.[1]);

  it('writes next to nothing, with held watches and receives, destinations, armed timers and two processes', async () => {
    const [on] = services as [MusterService];
    const redis = on.store as Redis;
    const worlds = await Promise.all(Array.from({ length: 20 }, () => World.create({ on })));
    const held: Promise<unknown>[] = [];
    for (const world of worlds) {
      const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
      await world.mustPost('/destinations', { url: 'http://127.0.0.1:9/', eventTypes: ['budget.*'] });
      const scopeId = randomUUID();
      const deadline = new Date(Date.now() + 3_600_000).toISOString();
      await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1, deadline });
      const recv = { scopeId: randomUUID(), holder: 'h', holderSession: 's', waitSeconds: 30 };
      held.push(world.post(`/mailboxes/${id}/recv`, recv), world.get('/watch?cursor=latest&waitSeconds=30'));
    }
    // By then, the work that follows the start and the calls is done.
    await sleep(12_000);
    const before = await logBytes(redis);
    const commands = await readCommands(redis, () => sleep(idleSeconds * 1000));
    const bytesPerSecond = ((await logBytes(redis)) - before) / idleSeconds;
    const known = await writes(redis);
    const written = commands.filter(([name = '']) => known.has(name.toLowerCase()));
    console.log(
      `      ${commands.length} commands in ${idleSeconds} s, ${written.length} of kinds that write, ` +
        `${bytesPerSecond} bytes of log a second`,
    );
    const ofWebhooks = (all: typeof commands) =>
      all.filter(([name, called = '']) => name === 'FCALL' && called.startsWith('webhook_'));
    const [world] = worlds as [World];
    const heard = await readCommands(redis, async () => {
      await world.mustPost('/mailboxes', { name: 'more' });
      // Two rounds of each dispatcher.
      await sleep(2_500);
    });
    for (const service of services) service.wake.close();
    await Promise.all(held);
    expect(bytesPerSecond).to.be.at.most(200);
    expect(ofWebhooks(commands), 'of spaces whose webhooks are all delivered').to.deep.equal([]);
    expect(ofWebhooks(heard), 'after an event, by each process').to.have.length.within(2, 4);
    // BullMQ's checks for stalled jobs, periodic work, and one check of each outbox, which changes nothing.
    expect(written.length, written.map((words) => words.slice(0, 2).join(' ')).join('\n')).to.be.at.most(100);
  });
});
