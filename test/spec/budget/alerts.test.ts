import { expect } from 'chai';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

const start = Date.UTC(2030, 0, 1);

/** The percentages that a budget has announced, in order. */
async function announced(purse: Purse): Promise<number[]> {
  const { events } = (await purse.world.get('/events?limit=500')).body;
  return events.flatMap(({ type, aggregateId, payload }: Reply['body']) =>
    type === 'budget.threshold_reached' && aggregateId === purse.id ? [payload.percent] : [],
  );
}

const patch = (purse: Purse, body: object): Promise<Reply> => purse.world.call('PATCH', `/budgets/${purse.id}`, body);

describe('alertPercents', () => {
  it('are announced ascending by the reserve that first brings reserved + settled there, each once', async () => {
    const purse = await Purse.create('100', undefined, { alertPercents: [50, 80, 100] });
    expect((await purse.view()).alertPercents).to.deep.equal([50, 80, 100]);
    await purse.reserve('49');
    expect(await announced(purse)).to.deep.equal([]);
    const { id } = (await purse.reserve('31')).body;
    expect(await announced(purse)).to.deep.equal([50, 80]);
    expect((await purse.world.eventTypes()).slice(-3)).to.deep.equal([
      'budget.reserved',
      'budget.threshold_reached',
      'budget.threshold_reached',
    ]);
    await purse.void(id);
    await purse.reserve('40');
    expect(await announced(purse)).to.deep.equal([50, 80]);
    await purse.reserve('11');
    expect(await announced(purse)).to.deep.equal([50, 80, 100]);
  });

  it('are announced by the levels above, too, and exactly, where amounts have 18 digits', async () => {
    const world = await World.create();
    const root = await Purse.create('999999999999999999', world, { alertPercents: [1, 99] });
    const child = await Purse.create('999999999999999999', world, { parentBudgetId: root.id, alertPercents: [99] });
    // 99 % are 989999999999999999.01.
    await child.reserve('989999999999999999');
    expect([await announced(root), await announced(child)]).to.deep.equal([[1], []]);
    await child.reserve('1');
    expect([await announced(root), await announced(child)]).to.deep.equal([[1, 99], [99]]);
  });

  it('a roll announces nothing, and arms all: the next reserve of the window announces what is reached', async () => {
    const world = await World.create();
    await world.at(start);
    const purse = await Purse.create('100', world, { alertPercents: [50], windowSeconds: 60 });
    const { id } = (await purse.reserve('50')).body;
    await purse.settle(id, '50');
    expect(await announced(purse)).to.deep.equal([50]);
    await world.at(start + 60_000);
    await purse.view();
    await purse.reserve('49');
    expect(await announced(purse)).to.deep.equal([50]);
    await purse.reserve('1');
    expect(await announced(purse)).to.deep.equal([50, 50]);
    await world.at(start + 120_000);
    await purse.reserve('1');
    expect(await announced(purse)).to.deep.equal([50, 50, 50]);
  });

  it('PATCH changes them: budget.updated; one that is reached already is announced at once, one that was stays quiet', async () => {
    const purse = await Purse.create('100');
    await purse.reserve('60');
    const { status, body } = await patch(purse, { alertPercents: [30, 60, 70] });
    expect([status, body.alertPercents]).to.deep.equal([200, [30, 60, 70]]);
    expect(await announced(purse)).to.deep.equal([30, 60]);
    const { events } = (await purse.world.get('/events?limit=500')).body;
    const updated = events.find(({ type }: Reply['body']) => type === 'budget.updated');
    expect(updated.payload).to.deep.equal({ budgetId: purse.id, alertPercents: [30, 60, 70] });
    await patch(purse, { alertPercents: [30, 60, 70] });
    expect(await purse.counters('op:budget.update')).to.deep.equal(['1']);
    await patch(purse, { alertPercents: [60, 61] });
    await purse.reserve('1');
    expect(await announced(purse)).to.deep.equal([30, 60, 61]);
    expect((await patch(purse, { alertPercents: [] })).body.alertPercents).to.deep.equal([]);
    await purse.reserve('39');
    await patch(purse, { alertPercents: [30] });
    expect(await announced(purse)).to.deep.equal([30, 60, 61, 30]);
  });

  it('a lower limit announces what the use then reaches; a higher one that the use is below of arms it again', async () => {
    const purse = await Purse.create('100', undefined, { alertPercents: [50, 80] });
    await purse.reserve('50');
    await purse.limit('60');
    expect(await announced(purse)).to.deep.equal([50, 80]);
    await purse.limit('70');
    await purse.reserve('6');
    expect(await announced(purse)).to.deep.equal([50, 80, 80]);
    const { body } = await patch(purse, { limitMinor: '1000', alertPercents: [5, 50] });
    expect(body).to.deep.include({ limitMinor: '1000', alertPercents: [5, 50] });
    expect(await announced(purse)).to.deep.equal([50, 80, 80, 5]);
    await purse.reserve('444');
    expect(await announced(purse)).to.deep.equal([50, 80, 80, 5, 50]);
  });

  it('are at most 5 whole numbers of 1 to 100, ascending; a PATCH of nothing is 400', async () => {
    const purse = await Purse.create('100');
    for (const alertPercents of [[0], [101], [50, 50], [80, 50], ['50'], [1.5], [1, 2, 3, 4, 5, 6], 50]) {
      const refused = await patch(purse, { alertPercents });
      expect(codeOf(refused)).to.equal('400 VALIDATION_FAILED');
      expect(refused.body.error.message).to.contain('alertPercents').and.to.contain('ascending');
    }
    expect((await patch(purse, {})).body.error.message).to.contain('limitMinor or alertPercents');
    expect((await patch(purse, { alertPercents: [1, 2, 3, 4, 5] })).status).to.equal(200);
    expect(await announced(purse)).to.deep.equal([]);
  });
});
