import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { channelOf } from '../../../src/primitives/space/keys.ts';
import { codeOf, type Reply } from '../../support/world.ts';
import { sendMany } from './many.ts';
import { Queue } from './queue.ts';

describe('recv with waitSeconds', () => {
  let queue: Queue;
  /** Waits until the condition holds, or until its test has timed out and another one runs. */
  async function until(holds: () => boolean): Promise<void> {
    const queueBefore = queue;
    while (!holds()) {
      if (queue !== queueBefore) throw new Error('its test is over');
      await sleep(10);
    }
  }
  const held = () => queue.world.service.wake.size;
  const hold = (fields: object = {}): Promise<Reply> => queue.recv({ waitSeconds: 20, ...fields });
  beforeEach(async () => {
    queue = await Queue.create();
  });
  // End what a timed-out test still holds, which the next one would count.
  afterEach(async () => {
    await until(() => held() === 0);
  });

  it('holds the request until a message is ready, by send, nack or a published result', async () => {
    const sentTo = hold();
    await until(() => held() === 1);
    const id = await queue.sent();
    const first = (await sentTo).body;
    expect(first.id).to.equal(id);

    const nackedTo = hold();
    await until(() => held() === 1);
    await queue.act('nack', first, { retry: true });
    const second = (await nackedTo).body;
    expect(second).to.include({ id, attempt: 2 });

    const publishedTo = hold();
    await until(() => held() === 1);
    const result = { payload: 'r', mailboxId: queue.id, scopeId: queue.scopeId };
    await queue.act('complete', second, { result });
    expect((await publishedTo).body.payload).to.equal('r');
  });

  it('wakes one waiting request per message in a process, the longest-waiting first', async () => {
    const waiting: Promise<Reply>[] = [];
    for (let i = 1; i <= 3; i++) {
      waiting.push(hold({ holder: `w${i}` }));
      await until(() => held() === i);
    }
    for (let i = 0; i < 3; i++) {
      const id = await queue.sent({ payload: i });
      expect((await waiting[i])?.body).to.include({ id, holder: `w${i + 1}` });
      expect(held()).to.equal(2 - i);
    }
  });

  it('frees an aborted request, and passes its wake-up on to the next', async () => {
    const abort = new AbortController();
    const url = `${queue.world.url}/v1/spaces/${queue.world.spaceId}/mailboxes/${queue.id}/recv`;
    const gone = fetch(url, {
      method: 'POST',
      signal: abort.signal,
      headers: { Authorization: `Bearer ${queue.world.apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ scopeId: queue.scopeId, holder: 'gone', holderSession: 's', waitSeconds: 20 }),
    }).catch(() => 'aborted');
    await until(() => held() === 1);
    const next = hold({ holder: 'next' });
    await until(() => held() === 2);
    abort.abort();
    expect(await gone).to.equal('aborted');
    await until(() => held() === 1);
    const id = await queue.sent();
    expect((await next).body).to.include({ id, holder: 'next' });
  });

  it('costs no Redis calls for 200 idle workers; one new message wakes one of them, and 199 in parallel all others', async () => {
    const calls = async () =>
      Number(/cmdstat_fcall:calls=(\d+)/.exec(await queue.world.service.store.info('commandstats'))?.[1]);
    const waiting = Array.from({ length: 200 }, (_, n) => hold({ holder: `w${n}`, waitSeconds: 30 }));
    await until(() => held() === 200);
    // Each looks once more when its hold begins, for messages that came in between; looks that coincide share a call.
    // Twenty counts in a row are the same once all have looked, on a busy machine, too.
    let idle = await calls();
    for (let same = 0; same < 20; same++) {
      const now = await calls();
      if (now !== idle) [idle, same] = [now, 0];
    }
    const id = await queue.sent();
    expect((await Promise.race(waiting)).body.id).to.equal(id);
    expect((await calls()) - idle, 'the send, and one that looked').to.equal(2);
    expect(held()).to.equal(199);
    await sendMany(queue, 199);
    expect(new Set((await Promise.all(waiting)).map(({ body }) => body.id)).size).to.equal(200);
    expect(held()).to.equal(0);
  });

  it('misses no message that is sent while receives begin to wait', async () => {
    const ids = new Set<string>();
    for (let round = 0; round < 5; round++) {
      const both = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? queue.send() : hold())));
      for (const { status, body } of both) if (status === 200) ids.add(body.id);
    }
    expect(ids.size).to.equal(100);
  });

  it('counts as one request and, when it finds a message, one operation; it is a 204 only if the time is up', async () => {
    const usage = async () => {
      const { operations, syscalls } = (await queue.world.get('/usage')).body.days.at(-1);
      return [operations, syscalls - operations];
    };
    const [operations = 0, others = 0] = await usage();
    const waiting = hold();
    await until(() => held() === 1);
    const before = Number(/r=(\d+)/.exec((await queue.world.get('/mailboxes')).headers.get('RateLimit') ?? '')?.[1]);
    await queue.sent();
    await waiting;
    const after = Number(/r=(\d+)/.exec((await queue.world.get('/mailboxes')).headers.get('RateLimit') ?? '')?.[1]);
    expect(before - after, 'the send and the read itself').to.equal(2);
    expect(await usage()).to.deep.equal([operations + 2, others]);
    const start = performance.now();
    expect((await hold({ waitSeconds: 1 })).status).to.equal(204);
    const took = performance.now() - start;
    expect(took).to.be.at.least(950);
    expect(await usage()).to.deep.equal([operations + 2, others + 1]);
    expect(held()).to.equal(0);
  });

  it('answers 404 as soon as the mailbox is deleted, to all of its receives and to no other', async () => {
    const other = await Queue.create({}, queue.world);
    const otherHold = other.recv({ waitSeconds: 20 });
    await until(() => held() === 1);
    const deleted = [hold({ waitSeconds: 30 }), hold({ waitSeconds: 30 }), hold({ scopeId: '*', waitSeconds: 30 })];
    await until(() => held() === 4);
    expect((await queue.world.call('DELETE', `/mailboxes/${queue.id}`)).status).to.equal(204);
    const first = await Promise.race([Promise.all(deleted), otherHold]);
    expect(first).to.be.an('array');
    for (const reply of await Promise.all(deleted)) expect(codeOf(reply)).to.equal('404 MAILBOX_NOT_FOUND');
    const id = await other.sent();
    expect((await otherHold).body.id).to.equal(id);
  });

  it('gives no message to a key revoked meanwhile', async () => {
    const waiting = hold();
    await until(() => held() === 1);
    const { store } = queue.world.service;
    for (const name of await store.keys(`muster:{${queue.world.org}}:key:*`)) await store.hset(name, 'revokedAt', '1');
    await store.spublish(channelOf(queue.world.org, queue.world.spaceId), `${queue.id}/${queue.scopeId}`);
    expect(codeOf(await waiting)).to.equal('401 INVALID_API_KEY');
  });
});
