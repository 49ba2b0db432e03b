import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { awaitStore } from '../../src/embedded/await-store.ts';
import { connect } from '../../src/engine/redis/connection.ts';
import { freePort, RedisServer } from '../fault/redis-server.ts';

/** As in the README. */
const rights = ['~muster:*', '~{muster}:*', '&muster:*', '+@all', '-@admin', '-@dangerous', '+info'];

it('A start waits for the store in REDIS_URL, with a log line at intervals and a clear error at the end', async () => {
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const patience = { timeoutMs: 300, logEveryMs: 50, signal: new AbortController().signal, log };
  const failure = await awaitStore('redis://:hunter2@127.0.0.1:1', patience).catch(String);
  expect(failure).to.equal(
    'Error: REDIS_URL: the store was unreachable for 0 s (connect ECONNREFUSED 127.0.0.1:1): start it, or correct REDIS_URL',
  );
  expect(lines.length).to.be.greaterThan(1);
});

describe('A store that cannot be used', () => {
  let dir: string;
  let redis: RedisServer;
  let admin: Redis;
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-await-'));
    redis = await new RedisServer(dir, await freePort(), { databases: '2' }).start();
    admin = redis.link;
  });
  after(async () => {
    await redis.stop();
    await rm(dir, { recursive: true });
  });

  const refusal = (url: string): Promise<string> =>
    awaitStore(url, { log: () => undefined, signal: new AbortController().signal, timeoutMs: 1_000 }).then(
      () => 'none',
      (error: Error) => error.message,
    );
  const at = (login: string, database = ''): string => redis.url.replace('//', `//${login}@`) + database;
  const allow = (...rules: string[]) => admin.call('ACL', 'SETUSER', 'muster', 'reset', 'on', '>pw', ...rules);

  it('is refused for a wrong login, with one line', async () => {
    await allow('+@all');
    expect(await refusal(at('muster:wrong'))).to.match(
      /^REDIS_URL: the store rejected the login \(WRONGPASS .*\): correct user and password$/,
    );
    await admin.config('SET', 'requirepass', 'hunter2');
    expect(await refusal(redis.url)).to.match(/^REDIS_URL: the store rejected the login \(NOAUTH .*\): correct user/);
    await admin.config('SET', 'requirepass', '');
  });

  it('is refused if its user lacks a permission that calls or wake-ups need', async () => {
    await allow(...rights);
    expect(await refusal(at('muster:pw'))).to.equal('none');
    for (const missing of ['resetchannels', '-spublish', '-ssubscribe', '-info', '-ping']) {
      await allow(...rights, missing);
      expect(await refusal(at('muster:pw')), missing).to.match(
        /^REDIS_URL: the store's user lacks a permission \(NOPERM .*\): docs\/operate\/scaling\.md lists .*$/,
      );
    }
  });

  it('is refused if it lacks the database of the address: calls would use another one', async () => {
    await allow(...rights);
    expect(await refusal(at('muster:pw', '/1'))).to.equal('none');
    expect(await refusal(at('muster:pw', '/2'))).to.match(/^REDIS_URL: the store has no such database \(ERR DB .*\): /);
    const store = await connect(at('muster:pw', '/2')).catch(String);
    expect(store).to.match(/DB index is out of range/);
  });

  it('is waited for if its Sentinels do not know it, with their message', async () => {
    const sentinels = `redis+sentinel://127.0.0.1:${redis.port}/store`;
    expect(await refusal(sentinels)).to.match(/unreachable for 1 s \(no Sentinel knows the master: ERR .*\): /);
  });

  it('is refused if it has no functions', async () => {
    await redis.kill();
    await redis.spawn({}, ['--rename-command', 'FUNCTION', '']);
    expect(await refusal(redis.url)).to.match(
      /^REDIS_URL: the store cannot be used \(ERR unknown command '?.?FUNCTION.*\): Muster needs Redis 7 /i,
    );
  });
});
