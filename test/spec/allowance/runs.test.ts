import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { expectNeedsOperation, expectNeedsRun, limitedWorld } from '../../support/plan.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { filled } from '../scope/run.ts';

const hour = 3_600_000;
const holder = 'h';

/** An allowance of a world, and the requests to it. */
class Units {
  readonly world: World;
  readonly path: string;

  constructor(world: World, path: string) {
    this.world = world;
    this.path = path;
  }

  static async create(world: World, unitsLimit: number): Promise<Units> {
    const { id } = await world.mustPost('/allowances', { name: randomUUID(), unitsLimit, windowSeconds: 60 });
    return new Units(world, `/allowances/${id}`);
  }

  consume(scopeId: string, units: number): Promise<Reply> {
    return this.world.post(`${this.path}/consume`, { scopeId, units, holder });
  }

  wait(scopeId: string, units: number, ttlSeconds = 3600): Promise<Reply['body']> {
    return this.world.mustPost(`${this.path}/wait`, { scopeId, units, holder, ttlSeconds });
  }

  async state(waiter: { id: string }): Promise<string> {
    return (await this.world.get(`/allowance-waiters/${waiter.id}`)).body.state;
  }
}

describe('the waiters and consumptions of a run', () => {
  let world: World;
  let start: number;
  beforeEach(async () => {
    world = await World.create({ limits: { maxBacklog: 100_000 } });
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
  });

  it('are in its view: each waiter, and the sums of what it and the scopes below have consumed', async () => {
    const units = await Units.create(world, 10);
    const scopeId = randomUUID();
    await units.consume(scopeId, 3);
    const { id: below } = await world.mustPost('/scopes', { parentScopeId: scopeId });
    await units.consume(below, 4);
    await units.consume(below, 1);
    const waiter = await units.wait(scopeId, 5);
    const view = async () => {
      const { waiters, consumptions } = (await world.get(`/ops/runs/${scopeId}`)).body;
      return { waiters, consumptions };
    };
    expect(await view()).to.deep.equal({
      waiters: [(await world.get(`/allowance-waiters/${waiter.id}`)).body],
      consumptions: { count: 3, units: 8 },
    });
    expect(waiter.position).to.equal(1);
    await world.at(start + 60_000);
    await world.service.due.drain(world.org);
    const { waiters } = await view();
    expect(waiters).to.deep.equal([(await world.get(`/allowance-waiters/${waiter.id}`)).body]);
    expect(waiters[0]).to.include({ state: 'GRANTED', position: null });
    await expectAgreement(world);
  });

  it('end with its cancel if they wait, and those behind them are served', async () => {
    const units = await Units.create(world, 5);
    const [scopeId, other] = [randomUUID(), randomUUID()];
    await units.consume(scopeId, 3);
    const [first, behind] = [await units.wait(scopeId, 3), await units.wait(other, 2)];
    const granted = await units.wait(scopeId, 1).then(() => Units.create(world, 1));
    const kept = await granted.wait(scopeId, 1);
    expect(await units.state(behind)).to.equal('WAITING');
    const { cancelled } = await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect(cancelled.waiters).to.equal(2);
    await world.service.due.drain(world.org);
    const states = [await units.state(first), await units.state(behind), await units.state(kept)];
    expect(states).to.deep.equal(['CANCELLED', 'GRANTED', 'GRANTED']);
    const refused = [
      await units.consume(scopeId, 1),
      await world.post(`${units.path}/wait`, { scopeId, units: 1, holder }),
    ];
    expect(refused.map(codeOf)).to.deep.equal(['409 SCOPE_CANCELLED', '409 SCOPE_CANCELLED']);
    await expectAgreement(world);
  });

  it('are cancelled from the first step of its cancel on: those that it has not reached are granted nothing', async () => {
    const { run } = await filled(world);
    const units = await Units.create(world, 1);
    const other = randomUUID();
    await units.consume(other, 1);
    const [asked, renewed, late] = [
      await units.wait(run.scopeId, 1),
      await units.wait(run.scopeId, 1),
      await units.wait(run.scopeId, 1, 30),
    ];
    const behind = await units.wait(other, 1);
    expect((await run.cancel()).body.done).to.equal(false);
    expect((await world.mustPost(`/allowance-waiters/${asked.id}/cancel`)).state).to.equal('CANCELLED');
    expect(codeOf(await world.post(`/allowance-waiters/${renewed.id}/renew`, {}))).to.equal('409 WAITER_NOT_WAITING');
    await world.at(start + 60_000);
    await world.service.due.drain(world.org);
    const states = [];
    for (const waiter of [asked, renewed, late, behind]) states.push(await units.state(waiter));
    expect(states).to.deep.equal(['CANCELLED', 'CANCELLED', 'CANCELLED', 'GRANTED']);
    await run.worked();
    expect((await run.cancel()).body.cancelled.waiters).to.equal(3);
    await expectAgreement(world);
  });

  it('end in one step of its cancel, as it ends 250 records, if 200 of them wait', async () => {
    const units = await Units.create(world, 1);
    const scopeId = randomUUID();
    await units.consume(scopeId, 1);
    await Promise.all(Array.from({ length: 200 }, () => units.wait(scopeId, 1)));
    const { done, cancelled } = await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect([done, cancelled.waiters]).to.deep.equal([true, 200]);
  });

  it('are EXPIRED, not CANCELLED, if their time was up before the cancel', async () => {
    const units = await Units.create(world, 1);
    const scopeId = randomUUID();
    await units.consume(randomUUID(), 1);
    const [early, late] = [await units.wait(scopeId, 1, 10), await units.wait(scopeId, 1, 11)];
    await world.at(start + 10_000);
    await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect([await units.state(early), await units.state(late)]).to.deep.equal(['EXPIRED', 'CANCELLED']);
    await expectAgreement(world);
  });
});

describe('an allowance', () => {
  it('is found by its name; nothing is found by a name that no allowance has', async () => {
    const world = await World.create();
    const make = (name: string) => world.mustPost('/allowances', { name, unitsLimit: 1, windowSeconds: 60 });
    const [one] = [await make('a b'), await make('c')];
    const named = async (name: string) => (await world.get(`/allowances?name=${encodeURIComponent(name)}`)).body;
    expect(await named('a b')).to.deep.equal({ allowances: [one], nextCursor: null });
    expect(await named('a')).to.deep.equal({ allowances: [], nextCursor: null });
  });

  it('is made, changed, consumed and waited for only with an operation left; settling and leaving the queue go on', async () => {
    const world = await limitedWorld();
    const units = await Units.create(world, 5);
    const scopeId = randomUUID();
    const { body: consumed } = await units.consume(scopeId, 4);
    const waiter = await units.wait(scopeId, 2);
    const { path } = units;
    await expectNeedsOperation(
      world,
      [
        ['/allowances', { name: 'x', unitsLimit: 1, windowSeconds: 60 }],
        [`${path}/consume`, { scopeId, holder, units: 1 }],
        [`${path}/wait`, { scopeId, holder, units: 1 }],
        [`${path}/cooldown`, { seconds: 5 }],
        [`${path}/observe`, { remainingUnits: 0 }],
        [path, { unitsLimit: 6 }, 'PATCH'],
      ],
      [
        [`/allowance-waiters/${waiter.id}/renew`, {}],
        [`/allowance-waiters/${waiter.id}/cancel`],
        [`${path}/consumptions/${consumed.id}/settle`, { units: 3 }],
      ],
    );
    expect((await world.get(path)).body).to.include({ unitsLimit: 5, usedUnits: 3, cooldownUntil: null, waiting: 0 });
  });

  it('begins no run beyond the plan', async () => {
    const world = await limitedWorld();
    const { path } = await Units.create(world, 5);
    const body = { scopeId: randomUUID(), holder, units: 1 };
    await expectNeedsRun(world, [
      [`${path}/consume`, body],
      [`${path}/wait`, body],
    ]);
  });
});
