import { expect } from 'chai';
import pino from 'pino';
import { Refusal } from '../../src/engine/redis/scripts.ts';
import { rooms } from '../../src/primitives/primitives.ts';
import { collect } from '../../src/primitives/room.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { callIn, digest, fingerprint } from '../redis/gathered-support.ts';
import { Commands } from '../support/commands.ts';
import { OwnStore } from '../support/own-store.ts';
import { overrides, World } from '../support/world.ts';
import { probeRoom } from './probe.ts';

const product = collect([...rooms, probeRoom]);

/** The writes of a script by command and key, each of which may occur once. */
function writesOf(inside: readonly (readonly string[])[]): string[] {
  return inside
    .filter(([name = '']) => /^(HSET|HDEL|ZADD|ZREM|SADD|SREM|RPUSH|HINCRBY|UNLINK)$/.test(name))
    .map(([name, key]) => `${name} ${key}`);
}

describe('The unit of work', () => {
  let ownStore: OwnStore;
  let service: MusterService;
  let world: World;

  before(async () => {
    ownStore = await OwnStore.start();
    const rest = { role: 'api', host: '127.0.0.1', port: 0, overrides } as const;
    service = await startService({ redisUrl: ownStore.url, log: pino({ level: 'silent' }), product, ...rest });
  });
  beforeEach(async () => {
    world = await World.create({ on: service });
    await world.at(Date.UTC(2030, 0, 1, 12));
  });
  after(async () => {
    await service.stop();
    await ownStore.stop();
  });

  const change = (name: string, refuses = false): Promise<unknown> =>
    callIn(world, {
      script: 'probe/change',
      callName: 'probe.change',
      idempotencyDigest: digest(name + refuses),
      fingerprint: fingerprint(name),
      args: { name, refuses: refuses ? '1' : '0' },
    }).catch((error: Error) => error);
  const look = (way: string): Promise<unknown> =>
    callIn(world, {
      script: 'probe/look',
      callName: 'probe.look',
      idempotencyDigest: '',
      fingerprint: '',
      args: { way },
    });

  /** All of the organization's data, except the counts of requests and the journal's ids. */
  async function everything(): Promise<unknown> {
    const { store } = service;
    const found: Record<string, unknown> = {};
    for (const key of (await store.keys(`muster:{${world.org}}*`)).sort()) {
      const type = await store.type(key);
      if (type === 'hash') {
        const { usedRequests, requestsMinute, usedRecovery, ...fields } = await store.hgetall(key);
        found[key] = fields;
      } else if (type === 'zset') found[key] = await store.zrange(key, '0', '-1', 'WITHSCORES');
      else if (type === 'set') found[key] = (await store.smembers(key)).sort();
      else if (type === 'list') found[key] = await store.lrange(key, 0, -1);
      else if (type === 'stream') found[key] = (await store.xrange(key, '-', '+')).map(([, entry]) => entry);
    }
    return JSON.parse(JSON.stringify(found).replaceAll(world.org, 'org').replaceAll(world.spaceId, 'space'));
  }

  const usedRequests = async (): Promise<number> =>
    Number(await service.store.hget(`muster:{${world.org}}:${world.spaceId}`, 'usedRequests'));

  it('leaves nothing but the count of a refused request that runs alone, wherever it is refused', async () => {
    await change('a');
    const [before, counted] = [await everything(), await usedRequests()];
    const refused = await change('b', true);
    expect(refused).to.be.instanceOf(Refusal);
    expect((refused as Refusal).code).to.equal('PROBE_REFUSED');
    expect(await change('a', true)).to.be.instanceOf(Refusal);
    expect(await everything()).to.deep.equal(before);
    expect((await usedRequests()) - counted).to.equal(2);
  });

  it('leaves exactly the changes of the other requests if one in an invocation is refused', async () => {
    const expected = await (async () => {
      for (const name of ['a', 'b', 'a', 'c']) await change(name);
      return everything();
    })();
    world = await World.create({ on: service });
    await world.at(Date.UTC(2030, 0, 1, 12));
    const commands = await Commands.hear(service.store);
    const calls = [
      change('a'),
      change('a', true),
      change('b'),
      change('x', true),
      change('a').catch(() => undefined),
      change('b', true),
      change('c'),
      change('c', true),
    ];
    const replies = await Promise.all(calls);
    const sent = (await commands.take()).filter(({ words }) => words[0] === 'FCALL');
    commands.stop();
    expect(sent).to.have.lengthOf(1);
    const isRefused = replies.map((reply) => reply instanceof Refusal);
    expect(isRefused).to.deep.equal([false, true, false, true, false, true, false, true]);
    expect(await usedRequests()).to.equal(8);
    const writes = writesOf(sent.flatMap(({ inside }) => inside));
    expect(writes).to.deep.equal([...new Set(writes)]);
    const found = (await everything()) as Record<string, unknown>;
    for (const [key, value] of Object.entries(expected as object))
      if (/probe|timers|events/.test(key)) expect(found[key], key).to.deep.equal(value);
  });

  it('offers the head, the count and the members of what an invocation has changed, by the last score of each', async () => {
    expect(await look('offered')).to.include(3);
    expect(await look('moved')).to.include('b');
  });

  it('fails a test whose script reads what it has changed in another way, or writes directly', async () => {
    const failure = (way: string) => look(way).catch(String);
    for (const way of ['sorted', 'map', 'set', 'list', 'journal'])
      expect(await failure(way), way).to.match(/a room reads what this invocation has changed/);
    expect(await failure('write')).to.match(/a room writes by itself: ZADD/);
  });
});
