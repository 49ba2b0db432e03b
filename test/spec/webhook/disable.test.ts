import { expect } from 'chai';
import { Deliveries, rows, untilRows } from '../../support/webhooks.ts';

const day = 86_400_000;

describe('a destination', () => {
  const to = new Deliveries();
  const { ready, register, happen, status, poke } = to;

  it('is disabled by a 410, with its pending deliveries EXHAUSTED; enabled again, it gets later events', async () => {
    const world = await ready();
    to.sink.answer = () => undefined;
    const { id } = await register(world);
    await happen(world);
    await to.sink.got(1);
    status(410);
    await happen(world);
    await untilRows(world, 1);
    const view = async () => (await world.get(`/destinations/${id}`)).body;
    expect(await view()).to.include({ state: 'DISABLED', disabledReason: 'GONE', consecutiveFailures: 1 });
    expect((await world.eventTypes()).at(-1)).to.equal('destination.disabled');
    await happen(world);
    const outbox = async () => (await world.get('/backlog')).body.outbox;
    expect(await outbox()).to.deep.equal({ UNREAD: 0, PENDING: 0, DELIVERED: 0, EXHAUSTED: 2 });
    expect(await to.service.store.keys(`muster:{${world.org}}:*:destination:${id}:*`)).to.deep.equal([]);
    status(200);
    const enabled = (await world.call('PATCH', `/destinations/${id}`, { state: 'ACTIVE' })).body;
    expect(enabled).to.include({ state: 'ACTIVE', disabledReason: null, consecutiveFailures: 0 });
    expect((await outbox()).UNREAD).to.equal(0);
    const { id: heard } = await happen(world);
    await untilRows(world, 2);
    expect(to.sink.received.at(-1)?.body.data.aggregateId).to.equal(heard);
    expect(await outbox()).to.deep.equal({ UNREAD: 0, PENDING: 0, DELIVERED: 1, EXHAUSTED: 2 });
  });

  it('is disabled after five days of failures only, counted anew when it is enabled', async () => {
    const world = await ready();
    const now = Math.ceil(Date.now() / 1000) * 1000;
    await world.at(now);
    status(500);
    const { id } = await register(world);
    await happen(world);
    await untilRows(world, 1);
    await world.at(now + 5 * day - 1);
    await poke(world);
    await untilRows(world, 2);
    const view = async () => (await world.get(`/destinations/${id}`)).body;
    expect((await view()).state).to.equal('ACTIVE');
    await world.at(now + 6 * day);
    await poke(world);
    const [last] = await untilRows(world, 3);
    expect(await view()).to.include({ state: 'DISABLED', disabledReason: 'FAILING' });
    expect(last).to.include({ attempt: 3, nextAttemptAt: null });
    await world.call('PATCH', `/destinations/${id}`, { state: 'ACTIVE' });
    await happen(world);
    await untilRows(world, 4);
    expect(await view()).to.include({ state: 'ACTIVE', consecutiveFailures: 1 });
    expect(await rows(world)).to.have.length(4);
  });
});
