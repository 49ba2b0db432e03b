import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { journalOf } from '../../support/journal.ts';
import { Aging, day } from './support.ts';

describe('retention of a journal that is packed', () => {
  const begin = async (): Promise<Aging> => {
    const aging = await Aging.begin();
    aging.packs = 12;
    return aging;
  };

  it('finds the messages whose window is over, to the millisecond, and their tombstones', async () => {
    const aging = await begin();
    const { traffic, world } = aging;
    const ends: number[] = [];
    for (let round = 0; round < 12; round++) {
      await aging.at(round * 7_000_000);
      const scopeId = traffic.scope();
      await traffic.send(scopeId, { workKey: scopeId });
      const claim = await traffic.claim(scopeId);
      await aging.at(aging.now - aging.start + 1000);
      ends.push(aging.now - aging.start);
      if (round % 2 === 0) await traffic.complete(claim, { payload: 1 });
      else await traffic.nack(claim, false);
    }
    const kept = async () => {
      const { messages } = await aging.body('/census');
      return messages.ACKED + messages.REJECTED;
    };
    await aging.sweepAt(2 * day);
    expect(await world.service.store.xlen(`${world.prefix}:events`)).to.equal(0);
    for (const [n, end] of ends.entries()) {
      await aging.sweepAt(7 * day + end - 1);
      expect(await kept(), `before message ${n}`).to.equal(ends.length - n);
      await aging.sweepAt(7 * day + end);
      expect(await kept(), `after message ${n}`).to.equal(ends.length - n - 1);
    }
    await expectAgreement(world);
    await aging.sweepAt(39 * day);
    expect((await aging.body('/census')).tasks).to.include({ SUCCEEDED: 0, FAILED: 0 });
    await expectAgreement(world);
  });

  it('drops whole segments, at most a day late, and says that cursors before are expired', async () => {
    const aging = await begin();
    const { traffic, world } = aging;
    for (let hours = 0; hours < 40; hours += 4) {
      await aging.at(hours * 3_600_000);
      await traffic.note(traffic.scope());
      if (hours % 8 === 0) await aging.sweepAt(hours * 3_600_000 + 3_600_000);
    }
    await aging.sweepAt(3 * day);
    const entries = await journalOf(world);
    const { nextCursor: early } = await aging.body('/events?limit=2');
    const { nextCursor: late } = await aging.body(`/events?limit=${entries.length - 1}`);
    const { store } = world.service;
    const segments = await store.xrange(`${world.prefix}:eventSegments`, '-', '+');
    expect(segments.length).to.be.greaterThan(1);
    for (const [last, [, first = '']] of segments) {
      const [begun, ended] = [first, last].map((id) => Number(id.split('-')[0]) - aging.start) as [number, number];
      expect(ended - begun).to.be.at.most(day);
      await aging.sweepAt(30 * day + ended - 1);
      expect((await journalOf(world))[0]?.[0], 'all of it is still there').to.equal(first);
      await aging.sweepAt(30 * day + ended);
      expect((await journalOf(world))[0]?.[0], 'all of it is gone').to.not.equal(first);
      expect(await store.exists(`${world.prefix}:eventSegment:${last}`)).to.equal(0);
      const expired = await world.get(`/events?cursor=${early}`);
      expect([expired.status, expired.body.error.message]).to.deep.equal([
        410,
        'the events after this cursor are no longer kept: start again without a cursor, or with cursor=latest',
      ]);
      await expectAgreement(world);
    }
    expect((await world.get(`/events?cursor=${late}`)).status).to.equal(410);
    const { nextCursor } = await aging.body('/events?cursor=latest');
    expect((await aging.body('/events')).nextCursor).to.equal(nextCursor);
    await traffic.note(traffic.scope());
    for (const query of ['', `?cursor=${nextCursor}`])
      expect((await aging.body(`/events${query}`)).events.at(-1).type).to.equal('message.sent');
  });
});
