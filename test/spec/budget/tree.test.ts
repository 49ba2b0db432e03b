import { randomInt, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

/** A budget below each of `limits` but the first: the root first. */
async function chain(world: World, limits: readonly string[]): Promise<Purse[]> {
  const purses: Purse[] = [];
  for (const limitMinor of limits) {
    const parentBudgetId = purses.at(-1)?.id ?? null;
    purses.push(await Purse.create(limitMinor, world, { parentBudgetId }));
  }
  return purses;
}

const each = (purses: readonly Purse[]): Promise<string[]> => Promise.all(purses.map((purse) => purse.balances()));
const largest = '999999999999999999';

describe('budgets below budgets', () => {
  it('are created with the id of the one above, of the same currency and scale, in at most 8 levels', async () => {
    const world = await World.create();
    const create = (more: object): Promise<Reply> =>
      world.post('/budgets', { name: randomUUID(), currency: 'EUR', scale: 2, limitMinor: '10', ...more });
    const levels = await chain(
      world,
      Array.from({ length: 8 }, () => '100'),
    );
    expect((await levels[0]?.view())?.parentBudgetId).to.equal(null);
    expect((await levels[7]?.view())?.parentBudgetId).to.equal(levels[6]?.id);
    const tooDeep = await create({ parentBudgetId: levels[7]?.id });
    expect(codeOf(tooDeep)).to.equal('409 PARENT_MISMATCH');
    expect(tooDeep.body.error.message).to.contain('at most 8');
    for (const other of [{ currency: 'USD' }, { scale: 3 }]) {
      const refused = await create({ parentBudgetId: levels[0]?.id, ...other });
      expect(codeOf(refused)).to.equal('409 PARENT_MISMATCH');
      expect(refused.body.error.message).to.contain(Object.keys(other)[0]);
    }
    expect(codeOf(await create({ parentBudgetId: randomUUID() }))).to.equal('409 BUDGET_NOT_FOUND');
    expect(codeOf(await create({ parentBudgetId: 'x' }))).to.equal('400 VALIDATION_FAILED');
  });

  it('reserve, settle and void with all above them in one step; reservations and workKeys are their own', async () => {
    const world = await World.create();
    const [root, team, agent] = (await chain(world, ['100', '60', '40'])) as [Purse, Purse, Purse];
    const other = await Purse.create('50', world, { parentBudgetId: root.id });
    const { id } = (await agent.reserve('30', { workKey: 'w' })).body;
    expect(await each([root, team, agent, other])).to.deep.equal([
      '100 30 0 70',
      '60 30 0 30',
      '40 30 0 10',
      '50 0 0 50',
    ]);
    await agent.settle(id, '12', 'w');
    expect(await each([root, team, agent])).to.deep.equal(['100 18 12 70', '60 18 12 30', '40 18 12 10']);
    expect((await agent.settle(id, '12', 'w')).body.replay).to.equal(true);
    await agent.void(id);
    expect(await each([root, team, agent])).to.deep.equal(['100 0 12 88', '60 0 12 48', '40 0 12 28']);
    expect((await other.reserve('50', { workKey: 'w' })).body).to.include({ replay: false, amountMinor: '50' });
    expect(await each([root, team])).to.deep.equal(['100 50 12 38', '60 0 12 48']);
    expect((await root.view()).reservations).to.deep.equal([]);
    expect(codeOf(await root.settle(id, '1'))).to.equal('409 RESERVATION_NOT_FOUND');
  });

  it('are refused INSUFFICIENT_BUDGET where any level is short, which the message names; nothing is reserved then', async () => {
    const world = await World.create();
    const [root, team, agent] = (await chain(world, ['100', '60', '80'])) as [Purse, Purse, Purse];
    await root.reserve('50');
    for (const [amountMinor, short, available] of [
      ['81', agent, '80'],
      ['61', team, '60'],
      ['51', root, '50'],
    ] as const) {
      const refused = await agent.reserve(amountMinor);
      expect(codeOf(refused)).to.equal('409 INSUFFICIENT_BUDGET');
      const { name } = await short.view();
      expect(refused.body.error.message)
        .to.contain(`the ${available} available`)
        .and.to.contain(`${name} (${short.id})`);
    }
    expect(await each([root, team, agent])).to.deep.equal(['100 50 0 50', '60 0 0 60', '80 0 0 80']);
    expect((await agent.reserve('50')).status).to.equal(201);
  });

  it('store nothing of it where a budget is plain', async () => {
    const purse = await Purse.create('100');
    await purse.settle((await purse.reserve('10')).body.id, '10');
    const fields = await purse.world.service.store.hkeys(`${purse.world.prefix}:budget:${purse.id}`);
    expect(fields.sort()).to.deep.equal([
      ...['available', 'createdAt', 'currency', 'limitMinor', 'name', 'reserved', 'scale', 'settled'],
    ]);
  });

  it('each level books what it has and is overdrawn by its own rest, which stops reserves below', async () => {
    const world = await World.create();
    const [root, team, agent] = (await chain(world, ['100', '30', '20'])) as [Purse, Purse, Purse];
    const other = await Purse.create('50', world, { parentBudgetId: team.id });
    const { id } = (await agent.reserve('10')).body;
    const { entry, balances } = (await agent.overrun(id, '50')).body;
    expect([entry.overdrawnMinor, balances.overdrawn]).to.deep.equal(['30', '30']);
    expect(await each([root, team, agent])).to.deep.equal([
      '100 0 50 50',
      '30 0 30 0 overdrawn 20',
      '20 0 20 0 overdrawn 30',
    ]);
    const events = (await world.get('/events?limit=500')).body.events.slice(-2);
    expect(
      events.map(({ type, aggregateId, payload }: Reply['body']) => [type, aggregateId, payload.overdrawnMinor]),
    ).to.deep.equal([
      ['budget.overdrawn', agent.id, '30'],
      ['budget.overdrawn', team.id, '20'],
    ]);
    const refused = await other.reserve('1');
    expect(codeOf(refused)).to.equal('409 INSUFFICIENT_BUDGET');
    expect(refused.body.error.message)
      .to.contain(team.id)
      .and.to.contain('overdrawn by 20')
      .and.to.contain('at least 50');
    expect((await root.reserve('1')).status).to.equal(201);
    await team.limit('60');
    expect(await each([team, agent])).to.deep.equal(['60 0 50 10', '20 0 20 0 overdrawn 30']);
    expect((await other.reserve('10')).status).to.equal(201);
    expect(codeOf(await agent.reserve('1'))).to.equal('409 INSUFFICIENT_BUDGET');
  });

  it('200 concurrent reserves, 25 at every level of eight, are exact to 18 digits', async () => {
    const world = await World.create({ limits: { maxArmedTimers: 1000 } });
    const levels = await chain(
      world,
      Array.from({ length: 8 }, () => largest),
    );
    const amount = (): string =>
      `${randomInt(1, 10)}${Array.from({ length: randomInt(0, 15) }, () => randomInt(10)).join('')}`;
    const reserved = await Promise.all(
      levels.flatMap((purse, level) =>
        Array.from({ length: 25 }, async () => {
          const amountMinor = amount();
          const reply = await purse.reserve(amountMinor);
          expect(codeOf(reply)).to.be.oneOf(['201', '409 INSUFFICIENT_BUDGET']);
          return { level, purse, amountMinor: reply.status === 201 ? amountMinor : '0', id: reply.body.id };
        }),
      ),
    );
    const sumFrom = (level: number, of: (one: (typeof reserved)[number]) => bigint): bigint =>
      reserved.filter((one) => one.level >= level).reduce((sum, one) => sum + of(one), 0n);
    for (const [level, purse] of levels.entries()) {
      const held = sumFrom(level, ({ amountMinor }) => BigInt(amountMinor));
      expect(await purse.balances()).to.equal(`${largest} ${held} 0 ${BigInt(largest) - held}`);
    }
    const half = (amountMinor: string): bigint => BigInt(amountMinor) / 2n;
    await Promise.all(
      reserved.flatMap(({ purse, id, amountMinor }) =>
        id ? [purse.settle(id, `${half(amountMinor)}`).then(() => purse.void(id))] : [],
      ),
    );
    for (const [level, purse] of levels.entries()) {
      const settled = sumFrom(level, ({ amountMinor }) => half(amountMinor));
      expect(await purse.balances()).to.equal(`${largest} 0 ${settled} ${BigInt(largest) - settled}`);
    }
  });
});
