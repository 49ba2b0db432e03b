import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { connect } from '../../src/engine/redis/connection.ts';
import { type Access, call, insist, type MusterProcess, messagesOf, Processes, until } from '../support/processes.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('A full store', () => {
  const processes = new Processes();
  let redis: Redis;
  let first: MusterProcess;
  let second: MusterProcess;
  let access: Access;
  let DATA_DIR: string;

  before(async () => {
    DATA_DIR = await processes.folder();
    first = await processes.start({ DATA_DIR }).ready();
    ({ access } = first);
    redis = (await connect(`${DATA_DIR}/redis.sock`, 'patient')) as Redis;
    // It falls due while the store is full; otherwise idle workers would write nothing that could be refused.
    const mailbox = (await call(first.url, access, '/mailboxes', { name: 'due' })).body.id;
    const due = Date.now() + 8_000;
    const message = { scopeId, payload: 1, deadline: new Date(due).toISOString() };
    await call(first.url, access, `/mailboxes/${mailbox}/messages`, message);
    await redis.config('SET', 'maxmemory', '1');
    expect(Date.now(), 'the store is full before the deadline').to.be.below(due);
    // A policy that no store should have; here it finds next to nothing to evict.
    await redis.config('SET', 'maxmemory-policy', 'volatile-lru');
    const own = { DATA_DIR: await processes.folder(), LOG_LEVEL: 'info', ALLOW_EVICTION: 'true' };
    const shared = { REDIS_URL: `${DATA_DIR}/redis.sock`, ...own };
    second = await processes.start(shared).ready();
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
  });
  after(async () => {
    redis.disconnect();
    await processes.clear();
  });

  it('does not prevent a start: the process warns, and answers 503', async () => {
    await until(() => second.said.includes('the store takes no calls (OOM): requests get a 503 until it does'));
    const { status, body } = await call(second.url, access, '/mailboxes');
    expect([status, body.error.code]).to.deep.equal([503, 'STORE_UNAVAILABLE']);
  });

  it('is logged once for its policy of evicting keys', async () => {
    const ofPolicy = () => second.stderr.split('\n').filter((line) => line.includes('volatile-lru'));
    await until(() => ofPolicy().length > 0);
    expect(ofPolicy()).to.have.lengthOf(1);
    expect(JSON.parse(ofPolicy()[0] ?? '')).to.include({ level: 40 });
  });

  it('is named as the reason in the log line of a refused request, an error', async () => {
    const { headers } = await call(second.url, access, '/mailboxes');
    const ofRequest = () => second.stderr.split('\n').find((line) => line.includes(headers.get('x-request-id') ?? '-'));
    await until(() => ofRequest() !== undefined);
    expect(JSON.parse(ofRequest() ?? '')).to.include({
      level: 50,
      status: 503,
      code: 'STORE_UNAVAILABLE',
      reason: 'OOM',
    });
  });

  it('is polled for jobs at intervals, not in a tight loop', async () => {
    const ofStore = () => first.stderr.split('\n').filter((line) => line.includes('OOM'));
    await until(() => ofStore().length > 0);
    const lines = ofStore();
    // Workers and jobs do not repeat each other's errors.
    expect(lines.length).to.be.lessThan(7);
    const calls = Number(/errorstat_OOM:count=(\d+)/.exec(await redis.info('errorstats'))?.[1]);
    expect(calls).to.be.lessThan(500);
  });

  it('lets workers resume as soon as there is memory', async () => {
    await redis.config('SET', 'maxmemory', '0');
    const mailbox = (await insist(() => second.url, access, '/mailboxes', { name: 'jobs' })).body.id;
    const deadline = new Date(Date.now() + 3_000).toISOString();
    await call(second.url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: 1, deadline });
    const states = async () => (await call(second.url, access, `/mailboxes/${mailbox}/messages`)).body.messages;
    await until(async () => (await states())[0]?.state === 'EXPIRED');
    expect((await second.end('SIGTERM')).status).to.equal(0);
  });

  it('prevents a start if it was restored and then not shut down cleanly, with a clear one-line error', async () => {
    const pid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
    await first.end('SIGKILL');
    process.kill(pid, 'SIGKILL');
    // A restored store has epochs to renew; another would have nothing to write.
    await writeFile(join(DATA_DIR, 'restored'), '');
    const { status, stderr } = await processes.start({ DATA_DIR, REDIS_MAXMEMORY: '1mb' }).ended;
    expect(messagesOf(stderr).join('\n')).to.match(
      /^the store was not shut down cleanly, .*\(OOM\): it needs free memory .*REDIS_MAXMEMORY.*$/,
    );
    expect(status).to.equal(1);
  });
});
