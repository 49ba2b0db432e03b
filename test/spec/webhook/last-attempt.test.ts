import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { Sink } from '../../support/sink.ts';
import { delivering, untilRows } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

describe('the last attempt of a delivery', () => {
  let service: MusterService;
  let sink: Sink;

  before(async () => {
    service = await delivering();
    sink = await Sink.start();
  });
  after(async () => {
    await service.stop();
    await sink.stop();
  });

  it('emits delivery.exhausted even if its failure also disables the destination', async () => {
    const world = await World.create({ on: service });
    const now = Math.ceil(Date.now() / 1000) * 1000;
    await world.at(now);
    sink.answer = (response) => response.writeHead(500).end();
    const { id } = await world.made('/destinations', { url: sink.url });
    await world.made('/mailboxes', { name: 'jobs' });
    for (let attempt = 1; attempt < 10; attempt++) {
      const [row] = await untilRows(world, attempt);
      if (attempt === 9) sink.answer = (response) => response.writeHead(410).end();
      await world.at(Date.parse(row?.nextAttemptAt ?? ''));
      await service.deliverer?.poke(world.org, world.spaceId);
    }
    const [last] = await untilRows(world, 10);
    expect(last).to.include({ attempt: 10, responseStatus: 410, nextAttemptAt: null });
    expect((await world.eventTypes()).slice(-2)).to.deep.equal(['delivery.exhausted', 'destination.disabled']);
    expect((await world.get(`/destinations/${id}`)).body).to.include({ state: 'DISABLED', disabledReason: 'GONE' });
    expect((await world.get('/backlog')).body.outbox).to.include({ PENDING: 0, EXHAUSTED: 1 });
  });
});
