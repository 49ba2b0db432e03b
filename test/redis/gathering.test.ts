import { hash, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Cluster } from 'ioredis';
import type { Reply } from '../../src/engine/declare/value.ts';
import { Refusal, ScriptFailure } from '../../src/engine/redis/scripts.ts';
import { randomTail } from '../../src/engine/route/args.ts';
import { Queue } from '../spec/mailbox/queue.ts';
import { expectAgreement } from '../support/agree.ts';
import { World } from '../support/world.ts';
import { digest, fingerprint } from './gathered-support.ts';

/** A send, as in src/engine/call/operation.ts. */
function send(queue: Queue, changes: Record<string, string> = {}): Promise<Reply> {
  return queue.world.service.scripts.execute('mailbox/send', queue.world.org, {
    apiKeyDigest: hash('sha256', queue.world.apiKey, 'base64url'),
    permission: 'coordination_write',
    rateClass: 'ordinary',
    callName: 'message.send',
    idempotencyDigest: digest(randomUUID()),
    fingerprint: fingerprint('same'),
    sweptThrough: '',
    openedMessages: '',
    spaceId: queue.world.spaceId,
    requestId: '',
    mailboxId: queue.id,
    scopeId: queue.scopeId,
    payload: '1',
    workKey: '',
    deadline: '',
    delaySeconds: '',
    maxAttempts: '',
    prerequisites: '',
    tail: randomTail(),
    ...changes,
  });
}

/** The state, such as `READY`, or the code of the refusal. */
const outcomes = async (calls: Promise<Reply>[]): Promise<unknown[]> =>
  (await Promise.allSettled(calls)).map((result) => {
    if (result.status === 'fulfilled') return result.value[2];
    return result.reason instanceof Refusal ? result.reason.code : result.reason;
  });

/** How often the store has run these commands. */
async function counted(world: World): Promise<{ fcall: number; spublish: number }> {
  const stats = await world.service.store.info('commandstats');
  const of = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1]);
  return { fcall: of('fcall'), spublish: of('spublish') };
}

describe('concurrent calls of one organization', () => {
  it('find the packed messages of their own space', async () => {
    const one = await World.create();
    const worlds = [one, await one.anotherSpace()];
    const queues = await Promise.all(worlds.map((world) => Queue.create({}, world)));
    let now = Date.now();
    for (const workKey of ['first', 'second'])
      for (const queue of queues) {
        now += 10;
        await one.at(now);
        await queue.sent({ workKey });
        await queue.act('complete', await queue.claim());
      }
    await one.at(now + 1000);
    const how = { sealAfterMs: 0, isAll: true, size: 100, patienceMs: 0 };
    for (const { service, org, spaceId } of worlds) await service.packing.packMessages(org, spaceId, undefined, how);
    const details = await Promise.all(
      queues.map((queue) => send(queue, { workKey: 'first' }).catch(({ detail }: Refusal) => detail)),
    );
    for (const [at, { prefix }] of worlds.entries()) {
      const [, , entry = '', key] = String(details[at]).split(';');
      expect(await one.service.store.zscore(`${prefix}:messageSegments`, entry), prefix).to.equal('0');
      expect(key).to.match(new RegExp(`^${prefix}:`));
    }
  });

  it('are sent together, 32 at a time; other calls are sent alone', async () => {
    const queue = await Queue.create();
    const other = await Queue.create();
    await send(queue);
    const before = await counted(queue.world);
    await Promise.all([...Array.from({ length: 40 }, () => send(queue)), send(other)]);
    expect((await counted(queue.world)).fcall - before.fcall).to.equal(3);
    await expectAgreement(queue.world);
  });

  it('calls of several spaces have the right effect in each', async () => {
    const foreign = await Queue.create();
    const queue = await Queue.create();
    const { world } = queue;
    const there = await Queue.create({}, await world.anotherSpace());
    await Promise.all([send(queue), send(there)]);
    const before = await counted(world);
    const calls = [queue, there, queue, there, there, queue].map((one) => send(one));
    calls.push(send(queue, { spaceId: foreign.world.spaceId }), send(there, { mailboxId: queue.id }), send(queue));
    // The last space of the FCALL, which is never read.
    calls.push(send(queue, { apiKeyDigest: 'unknown', spaceId: 'ffffffff-ffff-7fff-bfff-ffffffffffff' }));
    expect(await outcomes(calls)).to.deep.equal([
      ...Array(6).fill('READY'),
      'SPACE_NOT_FOUND',
      'MAILBOX_NOT_FOUND',
      'READY',
      'INVALID_API_KEY',
    ]);
    const after = await counted(world);
    expect(after.fcall - before.fcall).to.equal(1);
    expect(after.spublish - before.spublish, 'each wakes its own watchers').to.equal(2);
    for (const [one, sent] of [
      [queue, 5],
      [there, 4],
    ] as const) {
      expect((await one.record()).counts.ready).to.equal(sent);
      expect((await one.world.get('/census')).body.messages.READY).to.equal(sent);
      expect((await one.world.eventTypes()).filter((type) => type === 'message.sent')).to.have.length(sent);
    }
    expect(await world.service.store.hget(`muster:{${world.org}}`, 'usedTasks')).to.equal('9');
  });

  it('succeed or are refused individually, in order', async () => {
    const queue = await Queue.create({ backlogLimit: 3 });
    const reader = hash('sha256', await queue.world.key(['coordination_read']), 'base64url');
    const again = { idempotencyDigest: digest('again') };
    const calls = [
      send(queue, { apiKeyDigest: 'unknown' }),
      send(queue),
      send(queue, { mailboxId: randomUUID() }),
      send(queue, { apiKeyDigest: reader }),
      send(queue, { apiKeyDigest: reader }),
      send(queue, again),
      send(queue, again),
      send(queue, { ...again, fingerprint: fingerprint('other') }),
      send(queue, { deadline: '1' }),
      send(queue),
      send(queue),
      send(queue, { apiKeyDigest: 'revoked' }),
    ];
    expect(await outcomes(calls)).to.deep.equal([
      'INVALID_API_KEY',
      'READY',
      'MAILBOX_NOT_FOUND',
      'PERMISSION_DENIED',
      'PERMISSION_DENIED',
      'READY',
      'READY',
      'IDEMPOTENCY_KEY_REUSED',
      'VALIDATION_FAILED',
      'READY',
      'BACKLOG_FULL',
      'INVALID_API_KEY',
    ]);
    expect(await calls[11]?.catch(({ head }) => head), 'whose rates are nobody’s business').to.equal('-');
    const [first, replay] = await Promise.all([calls[5], calls[6]]);
    expect(replay?.[1]).to.equal(first?.[1]);
    expect((await queue.record()).counts.ready).to.equal(3);
    await expectAgreement(queue.world);
  });

  it('are counted by Redis if refused, alone and together', async () => {
    const queue = await Queue.create();
    const { store } = queue.world.service;
    const nodes = store instanceof Cluster ? store.nodes('master') : [store];
    const count = async () => {
      const infos = await Promise.all(nodes.map((node) => node.info('errorstats')));
      return infos.reduce((sum, info) => sum + Number(/MAILBOX_NOT_FOUND:count=(\d+)/.exec(info)?.[1] ?? 0), 0);
    };
    const refused = () => outcomes([send(queue, { mailboxId: randomUUID() })]);
    const before = await count();
    await refused();
    await Promise.all(Array.from({ length: 5 }, refused));
    expect((await count()) - before).to.equal(6);
  });

  it('see the changes of those before them: rates, tasks, backlog and operations are exact', async () => {
    const at = Date.now() + 86_400_000;
    const limited = async (choice: Parameters<typeof World.create>[0]) => {
      const queue = await Queue.create({}, await World.create(choice));
      await queue.world.at(at);
      const results = await outcomes(Array.from({ length: 16 }, () => send(queue)));
      return [results.filter((result) => result === 'READY').length, results.at(-1)];
    };
    expect(await limited({ figures: { tasks: '5' } })).to.deep.equal([5, 'ACTIVE_TASKS_LIMITED']);
    expect(await limited({ limits: { maxBacklog: 6 } })).to.deep.equal([6, 'BACKLOG_FULL']);
    expect(await limited({ limits: { requestsPerMinute: 7 } })).to.deep.equal([7, 'RATE_LIMITED']);
    expect(await limited({ figures: { rpm: '10' } })).to.deep.equal([8, 'SERVICE_RATE_LIMITED']);
    const free = await Queue.create({}, await World.create({ plan: 'free' }));
    await send(free);
    await free.world.service.store.hset(`muster:{${free.world.org}}`, 'usedOperations', 99_996);
    const results = await outcomes(Array.from({ length: 6 }, () => send(free)));
    expect(results).to.deep.equal([...Array(4).fill('READY'), ...Array(2).fill('OPERATIONS_EXHAUSTED')]);
  });

  it('fail individually, with the error of a defect', async () => {
    const queue = await Queue.create();
    const { store } = queue.world.service;
    await store.set(`${queue.world.prefix}:mailbox:${queue.id}:messages`, 'no such thing');
    const results = await outcomes(Array.from({ length: 3 }, () => send(queue)));
    await store.del(`${queue.world.prefix}:mailbox:${queue.id}:messages`);
    // Errors of Lua as well as of Redis: here, a comparison with nil.
    await store.hdel(`${queue.world.prefix}:mailbox:${queue.id}`, 'backlogLimit');
    results.push(...(await outcomes([send(queue)])), ...(await outcomes([send(queue), send(queue)])));
    expect(results).to.have.length(6);
    for (const result of results) expect(result).to.be.instanceOf(ScriptFailure);
  });
});
