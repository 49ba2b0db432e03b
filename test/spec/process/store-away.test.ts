import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { connect } from '../../../src/engine/redis/connection.ts';
import { channelOf } from '../../../src/primitives/space/keys.ts';
import { expectBefore } from '../../support/order.ts';
import {
  type Access,
  type Answer,
  call,
  insist,
  type MusterProcess,
  Processes,
  until,
} from '../../support/processes.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';

describe('A process whose store goes away and comes back', () => {
  const processes = new Processes();
  let muster: MusterProcess;
  let redis: Redis;
  let access: Access;
  let mailbox: string;
  const api = (path: string, body?: unknown): Promise<Answer> => call(muster.url, access, path, body);
  const send = (payload: unknown, more: object = {}) =>
    api(`/mailboxes/${mailbox}/messages`, { scopeId, payload, ...more });
  const readyz = async (): Promise<number> => (await fetch(`${muster.url}/readyz`)).status;
  const messages = async (query: string): Promise<{ id: string; payload: unknown; state: string }[]> => {
    const all = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const at: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const { body } = await api(`/mailboxes/${mailbox}/messages?limit=200${query}${at}`);
      all.push(...body.messages);
      cursor = body.nextCursor;
    }
    return all;
  };

  const clients = async (): Promise<number> => ((await redis.client('LIST')) as string).trim().split('\n').length;
  let clientsBefore: number;

  before(async () => {
    const DATA_DIR = await processes.folder();
    muster = await processes.start({ DATA_DIR, REDIS_MAXMEMORY: '2gb' }).ready();
    ({ access } = muster);
    redis = (await connect(`${DATA_DIR}/redis.sock`, 'patient')) as Redis;
    mailbox = (await api('/mailboxes', { name: 'jobs', backlogLimit: 50_000 })).body.id;
  });
  after(async () => {
    redis.disconnect();
    await processes.clear();
  });

  it('calls answer 503 while Redis is killed under load, and every acknowledged send is kept', async () => {
    const { nextCursor } = (await api('/events')).body;
    const acknowledged = new Map<string, number>();
    const refused: Answer[] = [];
    let isOver = false;
    let next = 0;
    const load = Array.from({ length: 20 }, async () => {
      while (!isOver) {
        const n = next++;
        const answer = await send(n);
        if (answer.status === 201) acknowledged.set(answer.body.id, n);
        else {
          refused.push(answer);
          await sleep(20);
        }
      }
    });
    await until(() => acknowledged.size > 200);
    clientsBefore = await clients();
    const pid = Number(/process_id:(\d+)/.exec(await redis.info('server'))?.[1]);
    process.kill(pid, 'SIGKILL');
    await until(() => refused.length > 0);
    expect(await readyz()).to.equal(503);
    const before = acknowledged.size;
    await until(() => acknowledged.size > before + 200);
    isOver = true;
    await Promise.all(load);

    for (const { status, headers, body } of refused) {
      expect([status, body.error.code, headers.get('retry-after')]).to.deep.equal([503, 'STORE_UNAVAILABLE', '1']);
    }
    expect(await readyz()).to.equal(200);
    const kept = new Map((await messages('')).map(({ id, payload }) => [id, payload]));
    for (const [id, n] of acknowledged) expect(kept.get(id)).to.equal(n);
    // A crash of Redis alone loses nothing: cursors continue, with every event after them.
    let sent = 0;
    for (let cursor = nextCursor, found = 1; found > 0; ) {
      const { status, body } = await api(`/events?limit=500&cursor=${cursor}`);
      expect(status).to.equal(200);
      found = body.events.length;
      cursor = body.nextCursor;
      sent += body.events.filter(({ type }: { type: string }) => type === 'message.sent').length;
    }
    expect(sent).to.be.at.least(acknowledged.size);
  });

  it('sets the limit of REDIS_MAXMEMORY again', async () => {
    expect(await redis.config('GET', 'maxmemory')).to.deep.equal(['maxmemory', String(2 * 1024 ** 3)]);
  });

  it('resumes its workers, and wakes held requests for new messages again', async () => {
    // No call of a space makes it ready: listing reads only.
    const { body } = await send('late', { delaySeconds: 1 });
    await until(async () => (await messages('&state=READY')).some(({ id }) => id === body.id));

    const scope = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e';
    const claim = { scopeId: scope, holder: 'a', holderSession: 's', waitSeconds: 15 };
    const channel = channelOf('dev', access.spaceId);
    // Nothing ends this one.
    const quiet = api(`/mailboxes/${mailbox}/recv`, { ...claim, scopeId: '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d71' });
    const held = api(`/mailboxes/${mailbox}/recv`, claim);
    await until(async () => Number(((await redis.call('PUBSUB', 'SHARDNUMSUB', channel)) as [string, number])[1]) > 0);
    await send('awaited', { scopeId: scope });
    expect((await expectBefore(held, quiet, 'it is woken')).body.payload).to.equal('awaited');
    expect((await quiet).status).to.equal(204);
  });

  it('keeps a receive held when the connection of its subscription is lost', async () => {
    const scope = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6f';
    const claim = { scopeId: scope, holder: 'a', holderSession: 's', waitSeconds: 15 };
    const channel = channelOf('dev', access.spaceId);
    const isHeard = async () =>
      Number(((await redis.call('PUBSUB', 'SHARDNUMSUB', channel)) as [string, number])[1]) > 0;
    const held = api(`/mailboxes/${mailbox}/recv`, claim);
    await until(isHeard);
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await until(isHeard);
    await send('awaited', { scopeId: scope });
    expect((await held).body.payload).to.equal('awaited');
  });

  it('is not affected by SCRIPT FLUSH or FUNCTION FLUSH', async () => {
    await redis.script('FLUSH');
    await redis.function('FLUSH');
    expect(await readyz()).to.equal(200);
    await redis.function('FLUSH');
    const { status, body } = await send('after', { delaySeconds: 1 });
    expect(status).to.equal(201);
    await until(async () => (await messages('&state=READY')).some(({ id }) => id === body.id));
  });

  it('answers 503 while the store is full or read-only, and writes nothing partially', async () => {
    const claim = { scopeId, holder: 'a', holderSession: 's' };
    const { body } = await api(`/mailboxes/${mailbox}/recv`, claim);
    const calls: [string, unknown?][] = [
      [`/mailboxes/${mailbox}/messages`, { scopeId: '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d70', payload: 1 }],
      [`/mailboxes/${mailbox}/recv`, claim],
      [`/messages/${body.id}/complete`, { token: body.token }],
      [`/messages/${body.id}/nack`, { token: body.token, retry: true }],
      ['/mailboxes', { name: 'other' }],
      ['/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '100' }],
      ['/events'],
    ];
    const content = async (): Promise<string[]> => {
      const keys = (await redis.keys('muster:{dev}*')).sort();
      return Promise.all(keys.map(async (key) => `${key} ${(await redis.dumpBuffer(key)).toString('hex')}`));
    };
    const ways: [() => Promise<unknown>, () => Promise<unknown>][] = [
      [() => redis.config('SET', 'maxmemory', '1'), () => redis.config('SET', 'maxmemory', '0')],
      [() => redis.replicaof('127.0.0.1', '1'), () => redis.replicaof('NO', 'ONE')],
    ];
    for (const [ill, well] of ways) {
      const before = await content();
      await ill();
      for (const [path, request] of calls) {
        const answer = await api(path, request);
        expect([path, answer.status, answer.body.error?.code]).to.deep.equal([path, 503, 'STORE_UNAVAILABLE']);
        expect(answer.headers.get('retry-after')).to.match(/^\d+$/);
      }
      expect(await readyz()).to.equal(503);
      expect(await content()).to.deep.equal(before);
      await well();
      await until(async () => (await readyz()) === 200);
      expect(
        (
          await insist(() => muster.url, access, '/budgets', {
            ...(calls[5]?.[1] as object),
            name: String(before.length),
          })
        ).status,
      ).to.equal(201);
    }
    expect((await api(`/messages/${body.id}/complete`, { token: body.token })).body.state).to.equal('ACKED');
  });

  it('has as many connections as before', async () => {
    await until(async () => (await clients()) === clientsBefore);
  });

  it('exits 0 on SIGTERM', async () => {
    expect((await muster.end('SIGTERM')).status).to.equal(0);
  });
});
