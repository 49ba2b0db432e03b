import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { rejectionOf } from '../../support/own-store.ts';
import { World } from '../../support/world.ts';
import { Spoiling } from './spoiling.ts';

describe('The recount used by tests', () => {
  it('notices any missing index entry', async () => {
    await Spoiling.expectNoticed(46, async (spoiling) => {
      const { store } = spoiling.world.service;
      for (const [name, type] of await spoiling.indexes()) {
        if (!spoiling.isMine()) continue;
        if (type === 'zset') {
          const [member = '', score = ''] = await store.zrange(name, '0', '0', 'WITHSCORES');
          await store.zrem(name, member);
          await spoiling.check(name);
          await store.zadd(name, score, member);
        } else if (type === 'hash' && /:(workKeys.*|poolNames)$/.test(name)) {
          const [[field = '', value = ''] = []] = Object.entries(await store.hgetall(name));
          await store.hdel(name, field);
          await spoiling.check(name, name.slice(spoiling.prefix.length));
          await store.hset(name, field, value);
        }
      }
    });
  });

  it('counts lists of which the service shows the first rows only', async () => {
    const world = await World.create();
    const { store } = world.service;
    const allowance = { name: 'a', unitsLimit: 1_000, windowSeconds: 600 };
    const { id } = await world.mustPost('/allowances', allowance);
    const wait = { scopeId: randomUUID(), holder: 'h', units: 1, ttlSeconds: 60 };
    await Promise.all(Array.from({ length: 202 }, () => world.mustPost(`/allowances/${id}/wait`, wait)));
    expect((await world.get('/ops/waits')).body.truncated).to.equal(true);
    await expectAgreement(world);
    const key = `${world.prefix}:heldGrants`;
    await store.zremrangebyrank(key, -1, -1);
    expect(await rejectionOf(expectAgreement(world))).to.include('grants');
  });
});
