import { expect } from 'chai';
import { rows } from '../../support/webhooks.ts';
import { oneToGet } from './steps.ts';

describe('a worker that was considered lost', () => {
  it('a worker that resumes late adds no second row for its attempt, which was INTERRUPTED', async () => {
    const { outbox, world, start, destinationId, begin, finish } = await oneToGet();
    await world.at(start + 20_000);
    const first = await begin();
    await world.at(start + 44_999);
    expect([(await outbox.dispatch()).attempts, await begin()]).to.deep.equal([[], undefined]);
    expect(await world.service.store.zcard(`${outbox.key(destinationId)}:running`)).to.equal(1);
    await world.at(start + 45_000);
    const second = await begin();
    const [interrupted] = await rows(world);
    expect(interrupted?.nextAttemptAt).to.equal(new Date(start + 45_000).toISOString());
    expect((await world.get(`/destinations/${destinationId}`)).body.consecutiveFailures).to.equal(0);
    await finish(1, first);
    // Although the clock goes back a little, this row follows the one before it.
    await world.at(start + 44_999);
    await finish(2, second);
    await world.at(start + 45_000);
    await finish(1, first);
    expect(await begin()).to.equal(undefined);
    const found = (await rows(world)).map(({ attempt, state, errorCode }) => [attempt, state, errorCode]);
    expect(found).to.deep.equal([
      [2, 'SUCCEEDED', null],
      [1, 'FAILED', 'INTERRUPTED'],
    ]);
  });

  it('records its attempt even if the destination was disabled meanwhile', async () => {
    const { outbox, world, destinationId, begin, finish } = await oneToGet();
    const attemptedAt = await begin();
    await world.call('PATCH', `/destinations/${destinationId}`, { state: 'DISABLED' });
    await finish(1, attemptedAt);
    expect((await rows(world)).map(({ attempt, state }) => [attempt, state])).to.deep.equal([[1, 'SUCCEEDED']]);
    expect(await outbox.counts()).to.include({ PENDING: 0, DELIVERED: 0, EXHAUSTED: 1 });
  });

  it('sends nothing if the journal was trimmed meanwhile: EXHAUSTED', async () => {
    const { outbox, world, entryId, begin } = await oneToGet();
    await world.service.store.xdel(`${world.prefix}:events`, entryId);
    expect(await begin()).to.equal(undefined);
    expect(await outbox.counts()).to.include({ PENDING: 0, DELIVERED: 0, EXHAUSTED: 1 });
  });
});

describe('the last attempt of a delivery', () => {
  it('emits delivery.exhausted even if its failure also disables the destination', async () => {
    const { outbox, world, destinationId, entryId, begin, finish } = await oneToGet();
    await world.service.store.hset(`${outbox.key(destinationId)}:attempts`, entryId, '9');
    await finish(10, await begin(), { responseStatus: '410', errorCode: 'STATUS' });
    const [last] = await rows(world);
    expect(last).to.include({ attempt: 10, responseStatus: 410, nextAttemptAt: null });
    expect((await world.eventTypes()).slice(-2)).to.deep.equal(['delivery.exhausted', 'destination.disabled']);
    const destination = (await world.get(`/destinations/${destinationId}`)).body;
    expect(destination).to.include({ state: 'DISABLED', disabledReason: 'GONE' });
    expect(await outbox.counts()).to.include({ PENDING: 0, EXHAUSTED: 1 });
  });
});
