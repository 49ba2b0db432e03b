import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Pace } from '../../support/pace.ts';
import { World } from '../../support/world.ts';
import { queueMany, type Step, sweepMeasured } from './script.ts';

const many = 10_000;

/**
 * Changes and commands are counted exactly, and alike in all scripts. Times are noisy: other load can only lengthen one. So
 * half of them within the bound, scaled to the machine's pace, show that the work itself is bounded.
 */
async function expectBounded(steps: readonly Step[], pace: Pace): Promise<void> {
  for (const { changes, events, commands } of steps) {
    expect(changes).to.be.at.most(100);
    expect(events).to.be.at.most(100);
    expect(commands).to.be.at.most(500);
  }
  const micros = steps.map((step) => step.micros).sort((one, other) => one - other);
  const median = micros[Math.floor(micros.length / 2)] ?? 0;
  expect(median).to.be.at.least(1);
  await pace.expect(median / 1000, 5);
}

describe('a window roll with 10,000 waiters', function () {
  this.timeout(120_000);
  /** A world with an allowance whose window is used up and that has many waiters. */
  async function fullQueue(ttlSeconds: number) {
    const world = await World.create({ limits: { maxPendingWaiters: many } });
    const start = Math.ceil(Date.now() / 60_000) * 60_000;
    await world.at(start);
    const { id } = await world.mustPost('/allowances', { name: 'calls', unitsLimit: many, windowSeconds: 60 });
    await world.mustPost(`/allowances/${id}/consume`, { scopeId: randomUUID(), units: many, holder: 'first' });
    await queueMany(world, id, many, ttlSeconds);
    return { world, start, path: `/allowances/${id}` };
  }

  it('grants in bounded steps and never blocks Redis for more than 5 ms at a time', async () => {
    const { world, start, path } = await fullQueue(3600);
    await world.at(start + 60_000);
    const pace = await Pace.begin();
    const steps = await sweepMeasured(world);
    expect(steps.reduce((sum, { changes }) => sum + changes, 0)).to.be.within(many, many + 1);
    await expectBounded(steps, pace);
    expect((await world.get(path)).body).to.include({ waiting: 0, usedUnits: many, availableUnits: 0 });
  });

  it('expires 10,000 waiters of one moment in bounded steps, too', async () => {
    const { world, start, path } = await fullQueue(30);
    await world.at(start + 30_000);
    const pace = await Pace.begin();
    const steps = await sweepMeasured(world);
    await expectBounded(steps, pace);
    expect((await world.get(path)).body).to.include({ waiting: 0, usedUnits: many });
    const left = await world.service.store.keys(`muster:{${world.org}}:*:allowance:*:*`);
    expect(left).to.deep.equal([]);
  });
});
