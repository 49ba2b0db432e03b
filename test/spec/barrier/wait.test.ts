import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createKey, revokeKey } from '../../../src/primitives/org/admin.ts';
import { heldRead } from '../../support/held-reads.ts';
import { codeOf } from '../../support/world.ts';
import { Gate } from './gate.ts';

describe('GET /barriers/{id} with waitSeconds', () => {
  let gate: Gate;
  beforeEach(async () => {
    gate = await Gate.create(2);
  });
  const path = (query = ''): string => `/barriers/${gate.id}${query}`;
  const hold = (query = '', waitSeconds?: number) => heldRead(gate.world, path(query), waitSeconds);

  it('accepts 0 to 30; 0, the default, answers at once', async () => {
    for (const waitSeconds of ['31', '-1', '0.5', '', 'x'])
      expect(codeOf(await gate.world.get(path(`?waitSeconds=${waitSeconds}`)))).to.equal('400 VALIDATION_FAILED');
    for (const query of ['', '?waitSeconds=0', '?epoch=3'])
      expect((await gate.world.get(path(query))).body.state).to.equal('OPEN');
    for (const epoch of ['0', '-1', 'x', '1000000000'])
      expect(codeOf(await gate.world.get(path(`?epoch=${epoch}`)))).to.equal('400 VALIDATION_FAILED');
  });

  it('holds the request until the barrier is released, and answers with the released record', async () => {
    const { answer } = await hold();
    await gate.arrive('a');
    expect(gate.world.service.wake.reads, 'an arrival alone does not end it').to.equal(1);
    const { body } = await gate.arrive('b');
    expect((await answer).body).to.deep.equal(body);
    expect(body.state).to.equal('RELEASED');
  });

  it('answers at once if the barrier is RELEASED or CANCELLED', async () => {
    await gate.cancel();
    expect((await gate.world.get(path('?waitSeconds=30'))).body.state).to.equal('CANCELLED');
    await gate.nextEpoch();
    await gate.arrive('a');
    await gate.arrive('b');
    expect((await gate.world.get(path('?waitSeconds=30'))).body.state).to.equal('RELEASED');
  });

  it('answers with the present record when the time is up', async () => {
    const begun = performance.now();
    const { answer } = await hold('', 1);
    await gate.arrive('a');
    expect((await answer).body).to.include({ state: 'OPEN', arrivals: 1 });
    expect(performance.now() - begun).to.be.at.least(950);
    expect(gate.world.service.wake.size).to.equal(0);
  });

  it('waits with epoch=n until epoch n is released, cancelled or past', async () => {
    const second = await hold('?epoch=2');
    await gate.cancel();
    await gate.nextEpoch();
    await gate.arrive('a');
    expect(gate.world.service.wake.reads, 'the end of epoch 1 was not awaited').to.equal(1);
    await gate.arrive('b');
    expect((await second.answer).body).to.include({ state: 'RELEASED', epoch: 2 });
    const third = await hold('?epoch=3');
    await gate.nextEpoch();
    await gate.cancel();
    expect((await third.answer).body).to.include({ state: 'CANCELLED', epoch: 3 });
    await gate.nextEpoch();
    const past = await gate.world.get(path('?epoch=3&waitSeconds=30'));
    expect(past.body).to.include({ state: 'OPEN', epoch: 4 });
  });

  it('notices an epoch that ends even if the next one begins at once', async () => {
    const { answer } = await hold();
    await gate.arrive('a');
    await Promise.all([gate.arrive('b'), gate.nextEpoch()]);
    const { body } = await answer;
    expect(body.epoch > 1 || body.state === 'RELEASED', JSON.stringify(body)).to.equal(true);
  });

  it('answers 404 at once for an unknown barrier; a key revoked meanwhile gets 401 rather than the record', async () => {
    expect(codeOf(await gate.world.get(`/barriers/${randomUUID()}?waitSeconds=30`))).to.equal('404 BARRIER_NOT_FOUND');
    const { org, service } = gate.world;
    const key = await createKey(service, { org, permissions: ['coordination_read'] });
    const headers = { Authorization: `Bearer ${key.apiKey}` };
    const answer = gate.world.call('GET', path('?waitSeconds=20'), undefined, headers);
    while (service.wake.reads === 0) await sleep(5);
    await revokeKey(service, org, key.keyId);
    await gate.cancel();
    expect(codeOf(await answer)).to.equal('401 INVALID_API_KEY');
  });

  it('leaves nothing behind when the client disconnects', async () => {
    const { world } = gate;
    const abort = new AbortController();
    const url = `${world.url}/v1/spaces/${world.spaceId}${path('?waitSeconds=20')}`;
    const gone = fetch(url, { signal: abort.signal, headers: { Authorization: `Bearer ${world.apiKey}` } }).catch(
      () => 0,
    );
    while (world.service.wake.reads === 0) await sleep(5);
    abort.abort();
    await gone;
    while (world.service.wake.reads > 0) await sleep(5);
  });

  it('counts as one request against the rate however long it is held', async () => {
    const before = await used();
    const { answer } = await hold();
    await gate.arrive('a');
    await gate.arrive('b');
    await answer;
    expect((await used()) - before).to.equal(3);

    async function used(): Promise<number> {
      return Number(
        await gate.world.service.store.hget(`muster:{${gate.world.org}}:${gate.world.spaceId}`, 'usedRequests'),
      );
    }
  });

  it('costs no Redis call for 100 held waits until the barrier is released, and one read then', async () => {
    const { world } = gate;
    const calls = async () =>
      Number(/cmdstat_fcall:calls=(\d+)/.exec(await world.service.store.info('commandstats'))?.[1]);
    const waiting = Array.from({ length: 100 }, () => world.get(path('?waitSeconds=30')));
    while (world.service.wake.reads < waiting.length) await sleep(5);
    let idle = 0;
    for (let now = await calls(); now !== idle; now = await calls()) {
      idle = now;
      await sleep(100);
    }
    const other = await Gate.create(1, world);
    await other.arrive('a');
    await gate.arrive('a');
    expect((await calls()) - idle, 'the calls made, and no look').to.equal(3);
    await gate.arrive('b');
    const states = new Set((await Promise.all(waiting)).map(({ body }) => body.state));
    expect([...states]).to.deep.equal(['RELEASED']);
    expect((await calls()) - idle, 'and one look for all').to.equal(5);
  });
});
