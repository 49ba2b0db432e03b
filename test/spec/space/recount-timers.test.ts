import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Spoiling } from './spoiling.ts';

describe('The recount used by tests, of timers, figures and packed messages', () => {
  it('notices any that is wrong', async () => {
    await Spoiling.expectNoticed(15, async (spoiling) => {
      const { world } = spoiling;
      const { store } = world.service;
      const recounted =
        /^(mailbox:(message|lease|delays)|group:deadline|allowance:waiter|question:expiry|scope:cancel):|^\d/;
      for (const kind of ['timers', 'backgroundTimers', 'scheduleTimers']) {
        const key = `muster:{${world.org}}:${kind}`;
        const timers = await store.zrange(key, '0', '-1', 'WITHSCORES');
        for (let i = 0; i < timers.length; i += 2) {
          const [member = '', score = ''] = [timers[i], timers[i + 1]];
          if (!recounted.test(member) || spoiling.isChecked(`${kind} ${member}`)) continue;
          if (!spoiling.isMine()) continue;
          await store.zrem(key, member);
          await spoiling.check(`${kind} ${member}`);
          await store.zadd(key, score, member);
        }
      }
      for (const name of await store.keys(`${spoiling.prefix}*figures`))
        for (const [field, value] of Object.entries(await store.hgetall(name))) {
          if (!spoiling.isMine()) continue;
          await store.hset(name, field, value.replace(/\d+$/, '77'));
          await spoiling.check(`${name} ${field}`, 'figures');
          await store.hset(name, field, value);
        }
      const scopes = (await store.keys(`${spoiling.prefix}scope:*`)).filter((key) => /:[0-9a-f-]{36}$/.test(key));
      await world.service.packing.packMessages(world.org, world.spaceId, undefined, { sealAfterMs: 0, isAll: true });
      await expectAgreement(world);
      const segments = await store.keys(`${spoiling.prefix}mailbox:*:segments`);
      expect(segments).to.have.length.above(0);
      for (const name of [...segments, `${spoiling.prefix}messageSegments`]) {
        const [member = '', score = ''] = await store.zrange(name, '0', '0', 'WITHSCORES');
        await store.zrem(name, member);
        await spoiling.check(name);
        await store.zadd(name, score, member);
      }
      for (const name of scopes) {
        await store.hincrby(name, 'endedAcked', 1);
        await spoiling.check(`${name} of packed messages`, 'endedAcked');
        await store.hincrby(name, 'endedAcked', -1);
      }
    });
  });
});
