import { expect } from 'chai';
import { uuidOf } from '../../../src/primitives/event/record.ts';
import { journalOf } from '../../support/journal.ts';
import { until } from '../../support/processes.ts';
import { Deliveries, rows, untilRows } from '../../support/webhooks.ts';
import type { World } from '../../support/world.ts';

describe('webhooks of events that are packed', () => {
  const to = new Deliveries();
  const { ready, register, happen, status, poke } = to;
  const day = 86_400_000;

  const pack = async ({ org, spaceId, prefix }: World, size = 40): Promise<void> => {
    await to.service.packing.packSpace(org, spaceId, undefined, { sealAfterMs: 0, isAll: true, size });
    expect(await to.service.store.xlen(`${prefix}:events`)).to.equal(0);
  };
  const outbox = async (world: World) => (await world.get('/backlog')).body.outbox;

  it('are retried, and sent again on request', async () => {
    const world = await ready();
    const now = Date.now();
    await world.at(now);
    status(500);
    await register(world);
    await happen(world);
    await untilRows(world, 1);
    await pack(world);
    await world.at(now + 60_000);
    await poke(world);
    const [second, first] = await untilRows(world, 2);
    expect([second?.eventId, second?.attempt, second?.state]).to.deep.equal([first?.eventId, 2, 'FAILED']);
    status(200);
    const again = await world.mustPost(`/deliveries/${first?.id}/redeliver`);
    expect(again).to.include({ eventId: first?.eventId, state: 'SUCCEEDED', trigger: 'MANUAL', attempt: 2 });
    const texts = new Set(to.sink.received.map(({ body }) => JSON.stringify(body)));
    expect([to.sink.received.length, texts.size]).to.deep.equal([3, 1]);
    expect(await outbox(world)).to.include({ UNREAD: 0, PENDING: 0, DELIVERED: 1 });
  });

  it('reach destinations that lie far behind, each of them every event once', async () => {
    const world = await ready();
    const { store } = to.service;
    await Promise.all(Array.from({ length: 50 }, () => happen(world)));
    await pack(world, 15);
    await happen(world);
    await pack(world, 15);
    await happen(world);
    const created = (await journalOf(world)).map(([id]) => id);
    expect(created).to.have.length(52);
    const ids = [];
    for (const path of ['/a', '/b']) ids.push((await register(world, ['mailbox.created'], path)).id);
    // As if they had been there from the beginning; one of them has read on.
    for (const [n, position] of [created[0], created[20]].entries())
      await store.hset(`${world.prefix}:destination:${ids[n]}`, { position, readCount: n === 0 ? 1 : 21 });
    await until(async () => {
      await poke(world);
      return (await outbox(world)).DELIVERED >= 51 + 31;
    });
    expect(await outbox(world)).to.include({ UNREAD: 0, PENDING: 0, EXHAUSTED: 0 });
    for (const [path, from] of [
      ['/a', 1],
      ['/b', 21],
    ] as const) {
      const got = to.sink.at(path).map(({ body }) => body.data.eventId);
      const wanted = created.slice(from).map((entryId) => uuidOf(entryId, world.spaceId.slice(-8)));
      expect(got.sort(), path).to.deep.equal(wanted);
    }
  });

  it('are given up, as those that are no longer kept, when their segment has gone or is damaged', async () => {
    const world = await ready();
    const now = Date.now();
    await world.at(now);
    status(500);
    const { id } = await register(world);
    await happen(world);
    const [row] = await untilRows(world, 1);
    await pack(world);
    const [last = ''] = (await to.service.store.xrange(`${world.prefix}:eventSegments`, '-', '+')).map(([one]) => one);
    await to.service.store.set(`${world.prefix}:eventSegment:${last}`, 'garbage');
    await world.at(now + day);
    await until(async () => {
      await poke(world);
      return (await outbox(world)).EXHAUSTED > 0;
    });
    expect(await rows(world)).to.have.length(1);
    expect((await world.post(`/deliveries/${row?.id}/redeliver`)).status).to.equal(404);
    expect((await world.get(`/destinations/${id}`)).body.state).to.equal('ACTIVE');
  });
});
