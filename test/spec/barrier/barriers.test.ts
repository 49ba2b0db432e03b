import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { barrierKeys } from '../../../src/barrier/keys.ts';
import { keyName } from '../../../src/redis/keys.ts';
import { codeOf, World } from '../../support/world.ts';
import { Gate } from './gate.ts';

describe('POST /barriers', () => {
  it('creates an OPEN barrier in epoch 1: 201 with the record, and barrier.created', async () => {
    const world = await World.create();
    const scopeId = randomUUID();
    const { status, body } = await world.post('/barriers', { scopeId, target: 3 });
    expect(status).to.equal(201);
    expect(body).to.deep.include({ scopeId, state: 'OPEN', epoch: 1, arrivals: 0, target: 3, releasedAt: null });
    expect(await world.eventTypes()).to.deep.equal(['scope.created', 'barrier.created']);
    expect((await world.get(`/barriers/${body.id}`)).body).to.deep.equal(body);
  });

  it('requires scopeId and target, a whole number from 1 to 100,000', async () => {
    const world = await World.create();
    const scopeId = randomUUID();
    for (const body of [
      { scopeId },
      { target: 1 },
      ...[0, 100_001, -1, 1.5, '3', null].map((target) => ({ scopeId, target })),
    ]) {
      expect(codeOf(await world.post('/barriers', body)), JSON.stringify(body)).to.equal('400 VALIDATION_FAILED');
    }
    await world.made('/barriers', { scopeId, target: 100_000 });
  });

  it('replays the first creation for the same Idempotency-Key', async () => {
    const world = await World.create();
    const headers = { 'Idempotency-Key': 'create-1' };
    const body = { scopeId: randomUUID(), target: 2 };
    const first = await world.post('/barriers', body, headers);
    const again = await world.post('/barriers', body, headers);
    expect([again.status, again.body]).to.deep.equal([201, first.body]);
    expect((await world.get('/barriers')).body.barriers).to.have.lengthOf(1);
  });

  it("refuses a new run that would exceed the plan's active runs", async () => {
    const world = await World.create({ figures: { runs: '1' } });
    const gate = await Gate.create(1, world);
    const mailbox = await world.made('/mailboxes', { name: 'jobs' });
    await world.made(`/mailboxes/${mailbox.id}/messages`, { scopeId: gate.scopeId, payload: {} });
    expect((await world.post('/barriers', { scopeId: gate.scopeId, target: 1 })).status).to.equal(201);
    expect(codeOf(await world.post('/barriers', { scopeId: randomUUID(), target: 1 }))).to.equal(
      '409 ACTIVE_RUNS_LIMITED',
    );
  });

  it('is refused when operations are used up, as are nextEpoch and cancel; arrive still works', async () => {
    const world = await World.create({ plan: 'free' });
    const [one, two] = [await Gate.create(1, world), await Gate.create(1, world)];
    await world.service.store.hset(`muster:{${world.org}}`, 'operations', '2');
    expect((await one.arrive('a')).status).to.equal(200);
    const refused = [
      await world.post('/barriers', { scopeId: one.scopeId, target: 1 }),
      await one.nextEpoch(),
      await two.cancel(),
    ];
    expect(refused.map(codeOf)).to.deep.equal(Array(3).fill('402 OPERATIONS_EXHAUSTED'));
  });

  it('needs coordination_write, as do arrive, nextEpoch and cancel', async () => {
    const gate = await Gate.create(1);
    const headers = { Authorization: `Bearer ${await gate.world.key(['coordination_read', 'resource_config'])}` };
    const replies = [
      await gate.world.post('/barriers', { scopeId: gate.scopeId, target: 1 }, headers),
      await gate.world.post(`/barriers/${gate.id}/arrive`, { arrivalKey: 'a' }, headers),
      await gate.world.post(`/barriers/${gate.id}/nextEpoch`, undefined, headers),
      await gate.world.post(`/barriers/${gate.id}/cancel`, undefined, headers),
    ];
    expect(replies.map(codeOf)).to.deep.equal(Array(4).fill('403 PERMISSION_DENIED'));
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
    expect(codeOf(await world.get('/barriers?state=CLOSED'))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await world.get('/barriers?cursor=nonsense'))).to.equal('400 INVALID_CURSOR');
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

  it('answers 404 BARRIER_NOT_FOUND for an unknown barrier and for one of another space', async () => {
    const world = await World.create();
    const elsewhere = await Gate.create(1);
    for (const id of [randomUUID(), elsewhere.id]) {
      const gate = new Gate(world, id, '');
      const replies = [
        await world.get(`/barriers/${id}`),
        await gate.arrive('a'),
        await gate.nextEpoch(),
        await gate.cancel(),
      ];
      expect(replies.map(codeOf)).to.deep.equal(Array(4).fill('404 BARRIER_NOT_FOUND'));
      expect(replies.every(({ status }) => status === 404)).to.equal(true);
    }
  });
});
