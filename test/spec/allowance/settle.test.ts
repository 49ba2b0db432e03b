import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../../support/world.ts';

const hour = 3_600_000;

describe('the settlement of a consumption', () => {
  let world: World;
  let start: number;
  let id: string;
  const scopeId = randomUUID();
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    id = (await world.mustPost('/allowances', { name: 'tokens', unitsLimit: 100, windowSeconds: 60 })).id;
  });

  const consume = async (units: number, more = {}): Promise<string> =>
    (await world.mustPost(`/allowances/${id}/consume`, { scopeId, units, holder: 'a', ...more })).id;
  const wait = (units: number): Promise<Reply['body']> =>
    world.mustPost(`/allowances/${id}/wait`, { scopeId, units, holder: 'w' });
  const settle = (consumptionId: string, units: number, of = id): Promise<Reply> =>
    world.post(`/allowances/${of}/consumptions/${consumptionId}/settle`, { units });
  const used = async (): Promise<number> => (await world.get(`/allowances/${id}`)).body.usedUnits;
  const inRun = async (): Promise<unknown> => (await world.get(`/ops/runs/${scopeId}`)).body.consumptions;

  it('gives back what was not used, or uses more, over the limit too, and says so in the run and the journal', async () => {
    const [first, second] = [await consume(40), await consume(50, { workKey: 'a b' })];
    const { status, body } = await settle(first, 15);
    expect([status, body]).to.deep.equal([
      200,
      { id: first, allowanceId: id, units: 40, settledUnits: 15, availableUnits: 35, replay: false },
    ]);
    expect(await inRun()).to.deep.equal({ count: 2, units: 65 });
    expect((await settle(second, 150)).body).to.include({ settledUnits: 150, availableUnits: 0 });
    expect((await world.get(`/allowances/${id}`)).body).to.include({ usedUnits: 165, availableUnits: 0 });
    expect(codeOf(await world.post(`/allowances/${id}/consume`, { scopeId, units: 1, holder: 'a' }))).to.equal(
      '429 ALLOWANCE_EXHAUSTED',
    );
    expect(await inRun()).to.deep.equal({ count: 2, units: 165 });
    const { events } = (await world.get('/events?limit=100')).body;
    expect(events.at(-1)).to.deep.include({ type: 'allowance.settled', scopeId });
    expect(events.at(-1).payload).to.deep.equal({
      ...{ allowanceId: id, scopeId, consumptionId: second, units: 50, settledUnits: 150, availableUnits: 0 },
    });
    // What its workKey answers is the consumption as it was.
    const again = await world.mustPost(`/allowances/${id}/consume`, {
      ...{ scopeId, units: 50, holder: 'a', workKey: 'a b' },
    });
    expect(again).to.include({ id: second, units: 50, replay: true });
  });

  it('is made once: the same again is replayed, another is CONSUMPTION_SETTLED', async () => {
    const consumption = await consume(40);
    await settle(consumption, 15);
    expect((await settle(consumption, 15)).body).to.include({ settledUnits: 15, replay: true, availableUnits: 85 });
    const refused = await settle(consumption, 16);
    expect(codeOf(refused)).to.equal('409 CONSUMPTION_SETTLED');
    expect(refused.body.error.message).to.contain('15 units');
    expect([await used(), await inRun()]).to.deep.equal([15, { count: 1, units: 15 }]);
    const usage = (await world.get('/usage')).body.days.at(-1);
    expect(usage.byCall['allowance.settle']).to.equal(1);
  });

  it('grants waiters what comes back in the same step', async () => {
    const consumption = await consume(90);
    const [first, second] = [await wait(30), await wait(60)];
    expect((await settle(consumption, 0)).body.availableUnits).to.equal(10);
    for (const { waiterId } of [first, second])
      expect((await world.get(`/allowance-waiters/${waiterId}`)).body.state).to.equal('GRANTED');
    expect((await world.eventTypes()).slice(-3)).to.deep.equal([
      'allowance.settled',
      'waiter.granted',
      'waiter.granted',
    ]);
  });

  it('takes the id of a GRANTED waiter, too', async () => {
    const granted = await wait(80);
    const waiting = await wait(30);
    expect(codeOf(await settle(waiting.waiterId, 1))).to.equal('404 CONSUMPTION_NOT_FOUND');
    expect((await settle(granted.waiterId, 20)).body).to.include({ units: 80, settledUnits: 20, availableUnits: 50 });
    expect((await world.get(`/allowance-waiters/${waiting.waiterId}`)).body.state).to.equal('GRANTED');
    expect((await settle(granted.waiterId, 20)).body.replay).to.equal(true);
    expect(codeOf(await settle(granted.waiterId, 21))).to.equal('409 CONSUMPTION_SETTLED');
  });

  it('changes nothing but the sum of the run once the window has ended', async () => {
    const [consumption, granted] = [await consume(40), await wait(30)];
    await world.at(start + 60_000);
    await consume(5);
    expect((await settle(consumption, 90)).body).to.include({ settledUnits: 90, availableUnits: 95 });
    expect((await settle(granted.waiterId, 0)).body).to.include({ settledUnits: 0, availableUnits: 95 });
    expect([await used(), await inRun()]).to.deep.equal([5, { count: 2, units: 95 }]);
  });

  it('is of a consumption of this allowance: any other id is CONSUMPTION_NOT_FOUND', async () => {
    const consumption = await consume(1);
    const other = await world.mustPost('/allowances', { name: 'other', unitsLimit: 5, windowSeconds: 60 });
    for (const unknown of [randomUUID(), id, scopeId, '00000000-0000-0000-0000-000000000000'])
      expect(codeOf(await settle(unknown, 1))).to.equal('404 CONSUMPTION_NOT_FOUND');
    expect(codeOf(await settle(consumption, 1, other.id))).to.equal('404 CONSUMPTION_NOT_FOUND');
    expect(codeOf(await settle(consumption, 1, randomUUID()))).to.equal('404 ALLOWANCE_NOT_FOUND');
    for (const units of [-1, 1_000_000_001, '1', null])
      expect(codeOf(await settle(consumption, units as number))).to.equal('400 VALIDATION_FAILED');
  });

  it('finds each of many consumptions of one millisecond', async () => {
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, n) => consume(1, n % 2 ? { workKey: `key ${n}/1` } : {})),
    );
    const settled = await Promise.all(ids.map((consumption, n) => settle(consumption, n % 3)));
    expect(new Set(settled.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(await used()).to.equal(60);
  });

  it('keeps the sums of a run right until retention has removed everything', async () => {
    const consumption = await consume(40, { workKey: '7' });
    await settle(consumption, 15);
    await consume(3);
    const year = 366 * 24 * hour;
    await world.at(start + year);
    await world.service.retention.retain(world.org);
    expect(codeOf(await settle(consumption, 15))).to.equal('404 CONSUMPTION_NOT_FOUND');
    expect(await world.service.store.exists(`${world.prefix}:allowance:${id}:workKeys`)).to.equal(0);
  });
});
