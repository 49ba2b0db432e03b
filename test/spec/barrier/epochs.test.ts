import { expect } from 'chai';
import { keyName } from '../../../src/engine/library/keys.ts';
import { barrierKeys } from '../../../src/primitives/barrier/keys.ts';
import { codeOf } from '../../support/world.ts';
import { Gate } from './gate.ts';

describe('arrive', () => {
  it('releases the barrier when arrivals reach target', async () => {
    const gate = await Gate.create(3);
    expect((await gate.arrive('a')).body).to.include({ state: 'OPEN', arrivals: 1 });
    expect((await gate.arrive('b')).body).to.include({ state: 'OPEN', arrivals: 2, releasedAt: null });
    const { body } = await gate.arrive('c');
    expect(body).to.include({ state: 'RELEASED', arrivals: 3, epoch: 1 });
    expect(body.releasedAt).to.be.a('string');
    expect(await gate.view()).to.deep.equal(body);
    const { events } = (await gate.world.get('/events')).body;
    const emitted = events
      .slice(2)
      .map(({ type, payload }: { type: string; payload: { arrivals: number; state: string } }) =>
        [type, payload.arrivals, payload.state].join(' '),
      );
    expect(emitted).to.deep.equal([
      'barrier.arrived 1 OPEN',
      'barrier.arrived 2 OPEN',
      'barrier.arrived 3 OPEN',
      'barrier.released 3 RELEASED',
    ]);
    expect(events.at(-1).payload).to.deep.equal({
      barrierId: gate.id,
      scopeId: gate.scopeId,
      state: 'RELEASED',
      epoch: 1,
      arrivals: 3,
      target: 3,
    });
  });

  it('a known key in the same epoch is answered 200 unchanged, also when RELEASED or CANCELLED', async () => {
    const gate = await Gate.create(2);
    await gate.arrive('a');
    expect((await gate.arrive('a')).body).to.include({ state: 'OPEN', arrivals: 1 });
    const released = (await gate.arrive('b')).body;
    expect((await gate.arrive('a')).body).to.deep.equal(released);
    expect((await gate.arrive('a', 1)).body).to.deep.equal(released);
    expect(codeOf(await gate.arrive('c'))).to.equal('409 BARRIER_RELEASED');
    expect(await gate.eventCount('arrived')).to.equal(2);
    await gate.nextEpoch();
    await gate.arrive('a');
    const cancelled = (await gate.cancel()).body;
    expect((await gate.arrive('a')).body).to.deep.equal(cancelled);
    expect(codeOf(await gate.arrive('b'))).to.equal('409 BARRIER_CANCELLED');
  });

  it('refuses any other epoch with EPOCH_MISMATCH, also for a key that has arrived', async () => {
    const gate = await Gate.create(1);
    expect((await gate.arrive('a', 1)).status).to.equal(200);
    await gate.nextEpoch();
    for (const epoch of [1, 3]) expect(codeOf(await gate.arrive('a', epoch))).to.equal('409 EPOCH_MISMATCH');
    expect((await gate.view()).arrivals).to.equal(0);
    await gate.arrive('a', 2);
    expect(codeOf(await gate.arrive('a', 1))).to.equal('409 EPOCH_MISMATCH');
  });
});

describe('nextEpoch and cancel', () => {
  it('nextEpoch reopens a RELEASED or CANCELLED barrier in the next epoch; an OPEN one is refused', async () => {
    const gate = await Gate.create(1);
    expect(codeOf(await gate.nextEpoch())).to.equal('409 BARRIER_NOT_RELEASED');
    await gate.arrive('a');
    const { status, body } = await gate.nextEpoch();
    expect(status).to.equal(200);
    expect(body).to.include({ state: 'OPEN', epoch: 2, arrivals: 0, releasedAt: null });
    expect((await gate.arrive('a')).body).to.include({ state: 'RELEASED', epoch: 2, arrivals: 1 });
    await gate.nextEpoch();
    await gate.cancel();
    expect((await gate.nextEpoch()).body).to.include({ state: 'OPEN', epoch: 4 });
    expect(await gate.eventCount('epoch_advanced')).to.equal(3);
  });

  it('cancel makes OPEN CANCELLED; again is 200 without an event; a RELEASED one is BARRIER_RELEASED', async () => {
    const gate = await Gate.create(2);
    await gate.arrive('a');
    const cancelled = await gate.cancel();
    expect(cancelled.body).to.include({ state: 'CANCELLED', arrivals: 1, releasedAt: null });
    expect((await gate.cancel()).body).to.deep.equal(cancelled.body);
    expect(await gate.eventCount('cancelled')).to.equal(1);
    // One operation each: create, arrive, and the first cancel.
    expect(await gate.world.service.store.hget(`muster:{${gate.world.org}}`, 'usedOperations')).to.equal('3');
    const other = await Gate.create(1);
    await other.arrive('a');
    expect(codeOf(await other.cancel())).to.equal('409 BARRIER_RELEASED');
  });

  it('keep nothing of past epochs but their number', async () => {
    const gate = await Gate.create(2);
    const { store } = gate.world.service;
    const parts = { org: gate.world.org, spaceNumber: gate.world.spaceNumber, barrierId: gate.id };
    const arrivalKeys = keyName(barrierKeys.arrivalKeys, parts);
    for (let epoch = 1; epoch <= 2; epoch++) {
      await gate.arrive(`a${epoch}`);
      await gate.arrive(`b${epoch}`);
      expect(await store.scard(arrivalKeys)).to.equal(2);
      await gate.nextEpoch();
      expect(await store.exists(arrivalKeys)).to.equal(0);
    }
    expect(await store.zcard(`muster:{${parts.org}}:finished`)).to.equal(0);
  });
});

describe('200 arrivals at once', () => {
  const keys = Array.from({ length: 200 }, (_, i) => `agent-${i}`);

  it('release once if they are exactly the target', async () => {
    const gate = await Gate.create(200);
    const replies = await Promise.all(keys.map((key) => gate.arrive(key)));
    expect(replies.map(({ body }) => body.arrivals).sort((a, b) => a - b)).to.deep.equal(keys.map((_, i) => i + 1));
    expect(replies.filter(({ body }) => body.state === 'RELEASED')).to.have.lengthOf(1);
    expect([await gate.eventCount('arrived'), await gate.eventCount('released')]).to.deep.equal([200, 1]);
  });

  it('release once if half of them are the target; the others are refused', async () => {
    const gate = await Gate.create(100);
    const replies = await Promise.all(keys.map((key) => gate.arrive(key)));
    expect(replies.filter((reply) => codeOf(reply) === '409 BARRIER_RELEASED')).to.have.lengthOf(100);
    expect([await gate.eventCount('arrived'), await gate.eventCount('released')]).to.deep.equal([100, 1]);
    expect(await gate.view()).to.include({ state: 'RELEASED', arrivals: 100 });
  });

  it('count once if they carry the same key; of 200 nextEpochs one takes effect', async () => {
    const gate = await Gate.create(2);
    const same = await Promise.all(keys.map(() => gate.arrive('a')));
    expect(new Set(same.map(({ body }) => body.arrivals))).to.deep.equal(new Set([1]));
    await gate.arrive('b');
    const next = await Promise.all(keys.map(() => gate.nextEpoch()));
    expect(next.filter(({ status }) => status === 200)).to.have.lengthOf(1);
    expect(await gate.view()).to.include({ epoch: 2, arrivals: 0 });
  });
});
