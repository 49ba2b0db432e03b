import { randomUUID } from 'node:crypto';
import { Spoiling } from './spoiling.ts';

const hasScores = /:(claims|oldestReady|delayed|heads|holdLeases|finishedHolds|waiting|held|units)$/;

describe('The recount used by tests, of index entries', () => {
  it('notices any that should not be, and any wrong score or value', async () => {
    await Spoiling.expectNoticed(60, async (spoiling) => {
      const { store } = spoiling.world.service;
      for (const [name, type] of await spoiling.indexes()) {
        if (!spoiling.isMine()) continue;
        const key = name.slice(spoiling.prefix.length);
        if (type === 'zset') {
          const [member = '', score = ''] = await store.zrange(name, '0', '0', 'WITHSCORES');
          await store.zadd(name, score, 'more');
          await spoiling.check(`${name} more`);
          await store.zrem(name, 'more');
          if (!hasScores.test(name)) continue;
          await store.zadd(name, Number(score) + 5_000, member);
          await spoiling.check(`${name} score`);
          await store.zadd(name, score, member);
        } else if (type === 'list') {
          await store.rpush(name, 'more');
          await spoiling.check(`${name} more`, key);
          await store.rpop(name);
        } else if (type === 'hash' && /:(workKeys.*|poolNames)$/.test(name)) {
          const [[field = '', value = ''] = []] = Object.entries(await store.hgetall(name));
          await store.hset(name, field, `${value}1`);
          await spoiling.check(`${name} value`, key);
          await store.hset(name, field, value);
        } else if (type === 'hash' && name.endsWith(':noteTexts')) {
          for (const [field, value] of Object.entries(await store.hgetall(name))) {
            await store.hset(name, field, field.startsWith('#') ? value.replace(/^\d+/, '99') : `${value} `);
            await spoiling.check(`${name} ${field}`);
            await store.hset(name, field, value);
          }
        }
      }
      const unknown = `scope:${randomUUID()}:messages`;
      await store.zadd(`${spoiling.prefix}${unknown}`, 0, randomUUID());
      await spoiling.check(unknown, unknown);
      await store.del(`${spoiling.prefix}${unknown}`);
    });
  });
});
