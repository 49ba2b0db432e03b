import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
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

  it('pay what they are overdrawn by out of the next window, under the label overdrawn, and take reserves again', async () => {
    const world = await worldAt(start);
    const purse = await Purse.create('100', world, { windowSeconds: 60, alertPercents: [20] });
    await purse.overrun((await purse.reserve('50')).body.id, '130');
    expect(await purse.balances()).to.equal('100 0 100 0 overdrawn 30');
    const alerts = async () => (await world.eventTypes()).filter((type) => type === 'budget.threshold_reached').length;
    const told = await alerts();
    await world.at(minutes(1));
    // Shown by reads before anything is written.
    for (const _ of ['unwritten', 'written']) {
      expect(await purse.balances()).to.equal('100 0 30 70');
      expect(await purse.view()).to.deep.include({ settledTotal: '130', spentByLabel: { overdrawn: '30' } });
      await purse.limit('101');
      await purse.limit('100');
    }
    expect(await alerts(), 'of the PATCH, not of the roll').to.equal(told + 1);
    await purse.settle((await purse.reserve('70')).body.id, '70', 'w', { label: 'drafts' });
    expect((await purse.view()).spentByLabel).to.deep.equal({ overdrawn: '30', drafts: '70' });
    await world.at(minutes(2));
    expect(await purse.balances()).to.equal('100 0 0 100');
    expect(await purse.view()).to.deep.include({ settledTotal: '200', spentByLabel: {} });
    await expectAgreement(world);
  });

  it('pay once for each window that has passed, each as far as its limit is not reserved', async () => {
    const world = await worldAt(start);
    const overdrawn = async (limit: string, kept: string): Promise<Purse> => {
      const purse = await Purse.create(limit, world, { windowSeconds: 60 });
      if (kept !== '0') await purse.reserve(kept);
      await purse.overrun((await purse.reserve('1')).body.id, '350');
      return purse;
    };
    const [free, half, full, long] = [
      await overdrawn('100', '0'),
      await overdrawn('100', '60'),
      await overdrawn('100', '99'),
      await overdrawn('100', '0'),
    ];
    expect(await half.balances()).to.equal('100 60 40 0 overdrawn 310');
    const shown = () => Promise.all([free, half, full].map((purse) => purse.balances()));
    await world.at(minutes(1));
    expect(await shown()).to.deep.equal([
      '100 0 100 0 overdrawn 150',
      '100 60 40 0 overdrawn 270',
      '100 99 1 0 overdrawn 348',
    ]);
    // Only this one is written on the way.
    await half.limit('110');
    await world.at(minutes(3));
    expect(await shown()).to.deep.equal(['100 0 50 50', '110 60 50 0 overdrawn 170', '100 99 1 0 overdrawn 346']);
    expect((await free.view()).settledTotal).to.equal('350');
    await world.at(minutes(7));
    expect(await half.balances()).to.equal('110 60 20 30');
    expect((await half.view()).spentByLabel).to.deep.equal({ overdrawn: '20' });
    // Two years later.
    await world.at(minutes(1_051_200));
    expect(await long.balances()).to.equal('100 0 0 100');
    expect((await long.view()).settledTotal).to.equal('350');
    expect(await full.balances()).to.equal('100 99 0 1');
    for (const purse of [free, half, full, long]) await purse.limit('120');
    await expectAgreement(world);
  });

  it('pay for at most 8,000,000 past windows at once, fifteen years of minutes', async () => {
    const world = await worldAt(start);
    const purse = await Purse.create('1', world, { windowSeconds: 60 });
    const { id } = (await purse.reserve('1')).body;
    await purse.overrun(id, '9000001');
    expect(await purse.balances()).to.equal('1 0 1 0 overdrawn 9000000');
    // The window of that moment pays, too.
    await world.at(minutes(8_500_000));
    expect(await purse.balances()).to.equal('1 0 1 0 overdrawn 999999');
    expect((await purse.view()).settledTotal).to.equal('8000002');
  });

  it('pay at each level by its own windows, and for an overdue reservation in order', async () => {
    const world = await worldAt(start);
    const root = await Purse.create('200', world, { windowSeconds: 120 });
    const team = await Purse.create('100', world, { parentBudgetId: root.id, windowSeconds: 60 });
    await team.overrun((await team.reserve('10')).body.id, '230');
    expect([await root.balances(), await team.balances()]).to.deep.equal([
      '200 0 200 0 overdrawn 30',
      '100 0 100 0 overdrawn 130',
    ]);
    await world.at(minutes(1));
    expect([await root.balances(), await team.balances()]).to.deep.equal([
      '200 0 200 0 overdrawn 30',
      '100 0 100 0 overdrawn 30',
    ]);
    await world.at(minutes(2));
    expect([await root.balances(), await team.balances()]).to.deep.equal(['200 0 30 170', '100 0 30 70']);
    // The reservation is settled before the window ends, so the next window has its whole limit to pay from.
    await team.reserve('60', { settleBy: new Date(minutes(3) - 1).toISOString(), onOverdue: 'SETTLE' });
    await team.overrun((await team.reserve('1')).body.id, '80');
    expect(await team.balances()).to.equal('100 60 40 0 overdrawn 70');
    await world.at(minutes(3));
    expect(codeOf(await team.reserve('31'))).to.equal('409 INSUFFICIENT_BUDGET');
    expect(await team.balances()).to.equal('100 0 70 30');
    expect((await team.view()).settledTotal).to.equal('370');
    await team.reserve('30');
    await expectAgreement(world);
  });

  it('say by how much they are overdrawn, and which window or PATCH ends it', async () => {
    const world = await worldAt(start);
    const messageOf = async (purse: Purse): Promise<string> => {
      const refused = await purse.reserve('1');
      expect(codeOf(refused)).to.equal('409 INSUFFICIENT_BUDGET');
      return refused.body.error.message.replace(/^budget \S+ \(\S+\) /, '');
    };
    const purse = await Purse.create('100', world, { windowSeconds: 60 });
    await purse.overrun((await purse.reserve('50')).body.id, '130');
    expect(await messageOf(purse)).to.equal(
      'is overdrawn by 30: its next window, at 2030-01-01T00:01:00.000Z, pays it; or a PATCH of limitMinor to at least 130',
    );
    const deep = await Purse.create('100', world, { windowSeconds: 60 });
    await deep.reserve('30');
    await deep.overrun((await deep.reserve('50')).body.id, '230');
    expect(await messageOf(deep)).to.equal(
      'is overdrawn by 160: its next window, at 2030-01-01T00:01:00.000Z, pays 70 of it; or a PATCH of limitMinor to at least 260',
    );
    const plain = await Purse.create('100', world);
    await plain.overrun((await plain.reserve('100')).body.id, '104');
    expect(await messageOf(plain)).to.equal(
      'is overdrawn by 4: its limitMinor must be at least 104 before more can be reserved',
    );
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
