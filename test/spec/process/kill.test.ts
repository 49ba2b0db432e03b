import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import pino from 'pino';
import { createKey, createOrganization, createSpace } from '../../../src/org/admin.ts';
import { startService } from '../../../src/service.ts';
import { expectAgreement } from '../../support/agree.ts';
import { maximumLimits } from '../../support/limits.ts';
import { OwnStore } from '../../support/own-store.ts';
import { type Access, call, insist, type MusterProcess, Processes, until } from '../../support/processes.ts';
import { allPermissions, World } from '../../support/world.ts';

const scopeId = '7f9c24e8-3b12-4e7a-9c55-0c1f6b2d8a10';
const holder = { scopeId, holder: 'a', holderSession: 's' };

describe('kill -9 of an API or worker process between any two steps', () => {
  const processes = new Processes();
  let ownStore: OwnStore;
  let redis: Redis;
  let access: Access;
  let books: World;
  let first: MusterProcess;
  /** Of the last two tests. */
  let api: MusterProcess;
  let worker: MusterProcess;
  const start = (ROLE = 'all'): Promise<MusterProcess> =>
    processes.start({ REDIS_URL: ownStore.url, DATA_DIR: ownStore.dataDir, ROLE }).ready();

  before(async () => {
    ownStore = await OwnStore.start();
    const admin = await ownStore.admin();
    redis = admin.store as Redis;
    await createOrganization(admin, { org: 'kill', plan: 'enterprise' });
    const { spaceId } = await createSpace(admin, { org: 'kill', limits: maximumLimits });
    const { apiKey } = await createKey(admin, { org: 'kill', permissions: allPermissions });
    access = { spaceId, apiKey };
    const log = pino({ level: 'silent' });
    const looking = await startService({ redisUrl: ownStore.url, role: 'api', host: '127.0.0.1', port: 0, log });
    books = new World(looking, 'kill', spaceId, apiKey);
    first = await start();
  });
  after(async () => {
    await processes.clear();
    await books.service.stop();
    await ownStore.stop();
  });

  const isBlocked = async (): Promise<boolean> =>
    / flags=b\S* .* cmd=fcall /.test((await redis.client('LIST')) as string);
  /** Whether a client is blocked, also one that is about to run the next script of a sweep. */
  const isHeldUp = async (): Promise<boolean> =>
    / flags=b\S* .* cmd=(fcall|zadd|zrem|eval|evalsha) /.test((await redis.client('LIST')) as string);

  /** Kills the process when its script call has reached Redis: before the script runs, or before its reply is read. */
  async function killAround(muster: MusterProcess, moment: 'before' | 'after', request: () => Promise<unknown>) {
    await redis.client('PAUSE', 30_000, 'WRITE');
    const lost = request().then(
      () => 'answered',
      () => 'lost',
    );
    await until(isBlocked);
    if (moment === 'before') await muster.end('SIGKILL');
    else muster.signal('SIGSTOP');
    // Calls of its workers wait too, and are lost with it as well.
    await redis.client('UNPAUSE');
    await until(async () => !(await isBlocked()));
    if (moment === 'after') await muster.end('SIGKILL');
    expect(await lost).to.equal('lost');
  }

  it('a call lost with its process takes effect or not; repeating it makes it take effect once', async () => {
    const spare = [start('api'), start('api'), start('api')];
    const mailbox = (await call(first.url, access, '/mailboxes', { name: 'once' })).body.id;
    const count = async (url: string) =>
      (await call(url, access, `/mailboxes/${mailbox}/messages`)).body.messages.length;
    const send = (url: string, key: string) =>
      call(url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: key }, key);

    const [a, b, c] = await Promise.all(spare);
    if (!a || !b || !c) throw new Error('three were started');
    const keys = [randomUUID(), randomUUID()] as const;
    await killAround(a, 'before', () => send(a.url, keys[0]));
    expect(await count(first.url)).to.equal(0);
    expect((await send(first.url, keys[0])).status).to.equal(201);
    await killAround(b, 'after', () => send(b.url, keys[1]));
    expect(await count(first.url)).to.equal(2);
    const repeated = await send(first.url, keys[1]);
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).to.deep.equal([200, 'true']);
    expect(await count(first.url)).to.equal(2);

    const { body } = await call(first.url, access, `/mailboxes/${mailbox}/recv`, holder);
    const complete = (url: string) => call(url, access, `/messages/${body.id}/complete`, { token: body.token });
    await killAround(c, 'after', () => complete(c.url));
    expect((await complete(first.url)).body).to.include({ state: 'ACKED', replay: true });
  });

  it('no message is lost under load, and none is acknowledged twice', async () => {
    const total = 400;
    let serving = first;
    const url = (): string => serving.url;
    const mailbox = (await call(url(), access, '/mailboxes', { name: 'load', backlogLimit: 50_000 })).body.id;
    const sent = new Map<string, number>();
    const tokens = new Map<string, string[]>();
    let next = 0;
    const senders = Array.from({ length: 8 }, async () => {
      while (next < total) {
        const n = next++;
        const { body } = await insist(url, access, `/mailboxes/${mailbox}/messages`, { scopeId, payload: n });
        sent.set(body.id, n);
      }
    });
    const receivers = Array.from({ length: 8 }, async () => {
      while (tokens.size < total) {
        // A lost reply leaves a claim, which lapses.
        const { status, body } = await insist(url, access, `/mailboxes/${mailbox}/recv`, {
          ...holder,
          leaseSeconds: 5,
          waitSeconds: 1,
        });
        if (status !== 200) continue;
        const done = await insist(url, access, `/messages/${body.id}/complete`, { token: body.token });
        if (done.status === 200) tokens.set(body.id, [...(tokens.get(body.id) ?? []), body.token]);
        else expect(done.body.error.code).to.equal('CLAIM_LOST');
      }
    });
    for (const share of [0.3, 0.6]) {
      const successor = start();
      await until(() => tokens.size >= total * share);
      const [old, heir] = [serving, await successor];
      const died = old.end('SIGKILL');
      serving = heir;
      await died;
    }
    await Promise.all([...senders, ...receivers]);

    expect(sent.size).to.equal(total);
    expect([...tokens.keys()].sort()).to.deep.equal([...sent.keys()].sort());
    for (const given of tokens.values()) expect(given).to.have.length(1);
    const { body } = await call(url(), access, `/mailboxes`);
    const counts = body.mailboxes.find(({ id }: { id: string }) => id === mailbox).counts;
    expect(counts).to.deep.equal({ ready: 0, delayed: 0, blocked: 0, claimed: 0, failed: 0 });
    first = serving;
  });

  /** Compares all counters and indexes with a recount, through an API in this process. */
  const expectBooks = (): Promise<number> => expectAgreement(books);

  /** Sends equal messages, many in a request. */
  async function sendMany(url: string, mailboxId: string, count: number, fields: object): Promise<void> {
    const one = () => ({ call: 'message.send', mailboxId, payload: 1, ...fields, idempotencyKey: randomUUID() });
    for (let left = count; left > 0; left -= 100) {
      const { body } = await call(url, access, '/batch', { calls: Array.from({ length: Math.min(left, 100) }, one) });
      for (const { status } of body.results) expect(status).to.equal(201);
    }
  }

  it('a cancel, a requeue and the cancel of a run take effect or not, and once when repeated; counters stay right', async () => {
    const spare = Array.from({ length: 3 }, () => start('api'));
    const mailbox = (await call(first.url, access, '/mailboxes', { name: 'again', mode: 'INBOX' })).body.id;
    const runId = randomUUID();
    const send = async (fields: object = {}): Promise<string> => {
      const body = { scopeId: runId, payload: 1, ...fields };
      return (await call(first.url, access, `/mailboxes/${mailbox}/messages`, body)).body.id;
    };
    const message = await send();
    const key = randomUUID();
    await sendMany(first.url, mailbox, 300, { scopeId: runId });
    const acts: [path: string, moment: 'before' | 'after', body: object, state: string, done: string][] = [
      [`/messages/${message}/cancel`, 'before', {}, 'READY', 'CANCELLED'],
      [`/messages/${message}/requeue`, 'after', { delaySeconds: 600 }, 'DELAYED', 'DELAYED'],
      [`/scopes/${runId}/cancel`, 'after', {}, 'DELAYED', 'CANCELLED'],
    ];
    for (const [n, [path, moment, body, state, done]] of acts.entries()) {
      const dying = (await spare[n]) as MusterProcess;
      await killAround(dying, moment, () => call(dying.url, access, path, body, `${key}-${n}`));
      const stands = async () => (await call(first.url, access, `/messages/${message}`)).body.state;
      // The workers continue with a run that is being stopped.
      const isStill = !path.startsWith('/scopes');
      if (isStill) expect(await stands(), `${path} ${moment}`).to.equal(state);
      if (isStill) await expectBooks();
      const repeated = await call(first.url, access, path, body, `${key}-${n}`);
      expect([repeated.status, repeated.headers.get('idempotent-replayed')]).to.deep.equal([
        ...[200, moment === 'after' ? 'true' : null],
      ]);
      if (isStill) expect(await stands()).to.equal(done);
    }
    const ended = async () => (await call(first.url, access, `/scopes/${runId}/cancel`, {})).body;
    await until(async () => (await ended()).done);
    expect((await ended()).cancelled.messages).to.equal(301);
    await expectBooks();
  });

  it('due work that a killed worker was about to sweep is swept by the next one', async () => {
    api = await start('api');
    await first.end('SIGKILL');
    const mailbox = (await call(api.url, access, '/mailboxes', { name: 'sweep' })).body.id;
    // It stands still until the message is due and the store takes no writes.
    const killed = await start('worker');
    killed.signal('SIGSTOP');
    const deadline = Date.now() + 300;
    const message = { scopeId, payload: 1, deadline: new Date(deadline).toISOString() };
    await call(api.url, access, `/mailboxes/${mailbox}/messages`, message);
    await sleep(Math.max(0, deadline - Date.now()));
    await redis.client('PAUSE', 30_000, 'WRITE');
    killed.signal('SIGCONT');
    await until(isHeldUp);
    await killed.end('SIGKILL');
    await redis.client('UNPAUSE');
    worker = await start('worker');
    const expired = async () =>
      (await call(api.url, access, `/mailboxes/${mailbox}/messages?state=EXPIRED`)).body.messages.length === 1;
    await until(expired);
  });

  it("a killed worker's steps of delayed messages or a cancelled run are finished by the next one; counters stay right in between", async () => {
    worker.signal('SIGSTOP');
    const mailbox = (await call(api.url, access, '/mailboxes', { name: 'steps', mode: 'INBOX' })).body.id;
    const stopped = randomUUID();
    await sendMany(api.url, mailbox, 60, { scopeId, delaySeconds: 1 });
    await sendMany(api.url, mailbox, 900, { scopeId: stopped });
    const { body } = await call(api.url, access, `/scopes/${stopped}/cancel`, {});
    expect(body.done).to.equal(false);
    const ready = () => redis.hget(`muster:{kill}:1:mailbox:${mailbox}`, 'ready');
    const before = await ready();
    worker.signal('SIGCONT');
    while ((await ready()) === before);
    // A step has begun: this stops the worker between two of its steps.
    await redis.client('PAUSE', 30_000, 'WRITE');
    await until(isHeldUp);
    await worker.end('SIGKILL');
    await redis.client('UNPAUSE');
    await expectBooks();
    await start('worker');
    const counts = async () => (await call(api.url, access, `/mailboxes/${mailbox}`)).body.counts;
    await until(async () => (await counts()).ready === 60);
    expect(await counts()).to.deep.equal({ ready: 60, delayed: 0, blocked: 0, claimed: 0, failed: 0 });
    const { cancelled, done } = (await call(api.url, access, `/scopes/${stopped}/cancel`, {})).body;
    expect([cancelled.messages, done]).to.deep.equal([900, true]);
    await expectBooks();
  });
});
