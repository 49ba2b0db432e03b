import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { keyName } from '../../../src/engine/library/keys.ts';
import { barrierKeys } from '../../../src/primitives/barrier/keys.ts';
import { codeOf, World } from '../../support/world.ts';
import { Gate } from './gate.ts';

describe('POST /barriers', () => {
  it('creates an OPEN barrier in epoch 1, once, however often it is sent with its Idempotency-Key', async () => {
    const world = await World.create();
    const scopeId = randomUUID();
    const headers = { 'Idempotency-Key': 'create-1' };
    const { status, body } = await world.post('/barriers', { scopeId, target: 3 }, headers);
    expect(status).to.equal(201);
    expect(body).to.deep.include({ scopeId, state: 'OPEN', epoch: 1, arrivals: 0, target: 3, releasedAt: null });
    const again = await world.post('/barriers', { scopeId, target: 3 }, headers);
    expect([again.status, again.body]).to.deep.equal([201, body]);
    expect(await world.eventTypes()).to.deep.equal(['scope.created', 'barrier.created']);
    expect((await world.get(`/barriers/${body.id}`)).body).to.deep.equal(body);
    for (const one of [{ scopeId }, { target: 1 }])
      expect(codeOf(await world.post('/barriers', one)), JSON.stringify(one)).to.equal('400 VALIDATION_FAILED');
  });
});

describe('GET /barriers', () => {
  it('lists barriers, newest first, in pages, with a state filter', async () => {
    const world = await World.create();
    const start = Date.now();
    const gates: Gate[] = [];
    for (let i = 0; i < 6; i++) {
      await world.at(start + i);
      gates.unshift(await Gate.create(1, world));
    }
    await gates[1]?.arrive('a');
    await gates[4]?.arrive('a');
    await gates[2]?.cancel();
    const pages = async (query: string): Promise<string> => {
      const found: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const { body } = await world.get(`/barriers?${query}${cursor && `&cursor=${cursor}`}`);
        found.push(body.barriers.map(({ id }: { id: string }) => gates.findIndex((gate) => gate.id === id)).join(''));
        cursor = body.nextCursor;
      }
      return found.join(' ');
    };
    expect(await pages('limit=200')).to.equal('012345');
    expect(await pages('limit=4')).to.equal('0123 45');
    expect(await pages('limit=3')).to.equal('012 345');
    expect(await pages('state=RELEASED')).to.equal('14');
    expect(await pages('state=OPEN')).to.equal('035');
    expect((await pages('state=RELEASED,CANCELLED&limit=2')).replace(/ $/, '')).to.equal('12 4');
  });

  it('examines 1,000 records per filtered page: a page may be empty while its cursor leads to matches', async () => {
    const world = await World.create();
    await world.at(Date.now());
    const wanted = await Gate.create(1, world);
    await wanted.cancel();
    const parts = { org: world.org, spaceNumber: world.spaceNumber };
    const batch = world.service.store.pipeline();
    const newer = Array.from({ length: 1000 }, (_, i) => `ffffffff-0000-7000-8000-${String(i).padStart(12, '0')}`);
    for (const barrierId of newer) {
      batch.hset(keyName(barrierKeys.barrier, { ...parts, barrierId }), { state: 'OPEN' });
      batch.zadd(keyName(barrierKeys.barriers, parts), 0, barrierId);
    }
    await batch.exec();
    const first = (await world.get('/barriers?state=CANCELLED')).body;
    expect(first.barriers).to.deep.equal([]);
    const second = (await world.get(`/barriers?state=CANCELLED&cursor=${first.nextCursor}`)).body;
    expect(second).to.deep.equal({ barriers: [await wanted.view()], nextCursor: null });
  });
});
