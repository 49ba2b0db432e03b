import { expect } from 'chai';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

/** A moment at which windows of a minute, an hour and a day begin. */
const start = Date.UTC(2030, 0, 1);
const minutes = (n: number): number => start + n * 60_000;

async function worldAt(at: number): Promise<World> {
  const world = await World.create();
  await world.at(at);
  return world;
}

describe('budgets with a window', () => {
  it('have windows aligned to 1970: settled begins anew with each, what is reserved stays and weighs on it', async () => {
    const world = await worldAt(start + 5000);
    const purse = await Purse.create('100', world, { windowSeconds: 60 });
    const windowOf = ({ windowStartedAt, windowEndsAt, settledTotal }: Reply['body']) =>
      [windowStartedAt, windowEndsAt, settledTotal].join(' ');
    expect(windowOf(await purse.view())).to.equal('2030-01-01T00:00:00.000Z 2030-01-01T00:01:00.000Z 0');
    const { id } = (await purse.reserve('60')).body;
    await purse.settle(id, '25');
    expect(await purse.balances()).to.equal('100 35 25 40');
    await world.at(minutes(1) - 1);
    expect(await purse.balances()).to.equal('100 35 25 40');
    await world.at(minutes(1));
    // Shown by reads before anything is written.
    expect(await purse.balances()).to.equal('100 35 0 65');
    expect(windowOf(await purse.view())).to.equal('2030-01-01T00:01:00.000Z 2030-01-01T00:02:00.000Z 25');
    expect(windowOf((await world.get('/budgets')).body.budgets[0])).to.contain(':02:00.000Z 25');
    expect(codeOf(await purse.reserve('66'))).to.equal('409 INSUFFICIENT_BUDGET');
    expect((await purse.reserve('65')).body.balances).to.include({ reserved: '100', available: '0' });
    // Of an earlier window: it is spent in this one.
    await world.at(minutes(7));
    expect((await purse.settle(id, '10')).body.balances).to.include({ reserved: '90', settled: '10', available: '0' });
    await purse.void(id);
    expect(await purse.balances()).to.equal('100 65 10 25');
    expect(windowOf(await purse.view())).to.equal('2030-01-01T00:07:00.000Z 2030-01-01T00:08:00.000Z 35');
  });

  it('roll along the line, each level by its own window', async () => {
    const world = await worldAt(start);
    const root = await Purse.create('1000', world);
    const day = await Purse.create('500', world, { parentBudgetId: root.id, windowSeconds: 86_400 });
    const minute = await Purse.create('100', world, { parentBudgetId: day.id, windowSeconds: 60 });
    for (let n = 0; n < 5; n++) {
      await world.at(minutes(n));
      const { id } = (await minute.reserve('100')).body;
      await minute.settle(id, '100');
    }
    await world.at(minutes(5));
    const refused = await minute.reserve('1');
    expect(codeOf(refused)).to.equal('409 INSUFFICIENT_BUDGET');
    expect(refused.body.error.message).to.contain(day.id);
    await world.at(minutes(24 * 60));
    const { id } = (await minute.reserve('70')).body;
    await world.at(minutes(24 * 60 + 1));
    await minute.settle(id, '50');
    await minute.void(id);
    expect(await minute.balances()).to.equal('100 0 50 50');
    expect(await day.balances()).to.equal('500 0 50 450');
    expect(await root.balances()).to.equal('1000 0 550 450');
    const totals = await Promise.all([minute, day, root].map(async (purse) => (await purse.view()).settledTotal));
    expect(totals).to.deep.equal(['550', '550', '550']);
  });

  it('keep what they are overdrawn by over a roll, until a limit covers it', async () => {
    const world = await worldAt(start);
    const purse = await Purse.create('100', world, { windowSeconds: 60 });
    await purse.overrun((await purse.reserve('50')).body.id, '130');
    expect(await purse.balances()).to.equal('100 0 100 0 overdrawn 30');
    await world.at(minutes(1));
    expect(await purse.balances()).to.equal('100 0 0 100 overdrawn 30');
    expect(codeOf(await purse.reserve('1'))).to.equal('409 INSUFFICIENT_BUDGET');
    await purse.limit('100');
    expect(await purse.balances()).to.equal('100 0 30 70');
    expect((await purse.view()).settledTotal).to.equal('130');
    expect((await purse.reserve('70')).status).to.equal(201);
    await world.at(minutes(2));
    expect(codeOf(await purse.limit('69'))).to.equal('409 LIMIT_BELOW_USE');
    expect((await purse.limit('70')).body.balances).to.include({ limit: '70', reserved: '70', settled: '0' });
  });

  it('stay exact where 200 reserves and settles with labels meet a roll, at every level', async () => {
    const world = await worldAt(start);
    const root = await Purse.create('1000000', world, { windowSeconds: 120 });
    const team = await Purse.create('1000000', world, { parentBudgetId: root.id, windowSeconds: 60 });
    const purse = await Purse.create('1000000', world, { parentBudgetId: team.id });
    const ids = (await Promise.all(Array.from({ length: 200 }, () => purse.reserve('100')))).map(({ body }) => body.id);
    await Promise.all(ids.slice(0, 100).map((id, n) => purse.settle(id, '30', undefined, { label: `l${n % 2}` })));
    await world.at(minutes(1));
    await Promise.all([
      ...ids.map((id, n) => purse.settle(id, '20', undefined, { label: `l${n % 4}` })),
      ...ids.slice(0, 50).map((_, n) => [team, purse, root][n % 3]?.reserve('7')),
    ]);
    const [reserved, spent] = [200 * 100 - 100 * 30 - 200 * 20, 200 * 20];
    expect(await root.balances()).to.equal(`1000000 ${reserved + 350} 7000 ${1_000_000 - reserved - 350 - 7000}`);
    expect(await team.balances()).to.equal(`1000000 ${reserved + 238} ${spent} ${1_000_000 - reserved - 238 - spent}`);
    const labelled = await Promise.all([root, team, purse].map(async (one) => (await one.view()).spentByLabel));
    expect(labelled).to.deep.equal([
      { l0: '2500', l1: '2500', l2: '1000', l3: '1000' },
      { l0: '1000', l1: '1000', l2: '1000', l3: '1000' },
      { l0: '2500', l1: '2500', l2: '1000', l3: '1000' },
    ]);
    expect((await team.view()).settledTotal).to.equal('7000');
  });

  it('sum up settledTotal beyond 18 digits', async () => {
    const world = await worldAt(start);
    const largest = '999999999999999999';
    const purse = await Purse.create(largest, world, { windowSeconds: 60 });
    for (let n = 0; n < 3; n++) {
      await world.at(minutes(n));
      await purse.settle((await purse.reserve(largest)).body.id, largest);
    }
    expect((await purse.view()).settledTotal).to.equal('2999999999999999997');
  });

  it('take a windowSeconds of 60 to 31,536,000, or null', async () => {
    const world = await worldAt(start);
    for (const windowSeconds of [59, 31_536_001, '60', 60.5]) {
      const body = { name: 'n', currency: 'EUR', scale: 2, limitMinor: '1', windowSeconds };
      expect(codeOf(await world.post('/budgets', body))).to.equal('400 VALIDATION_FAILED');
    }
    const plain = await (await Purse.create('1', world, { windowSeconds: null })).view();
    expect(plain).to.include({ windowSeconds: null, windowStartedAt: null, windowEndsAt: null, settledTotal: '0' });
  });
});
