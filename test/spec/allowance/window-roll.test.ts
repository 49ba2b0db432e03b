import { expect } from 'chai';
import { Pace } from '../../support/pace.ts';
import { expectBounded, fullQueue, many, sweepMeasured } from './script.ts';

describe('a window roll with many waiters', () => {
  it('grants in bounded steps', async () => {
    const { world, start, path } = await fullQueue(3600);
    await world.at(start + 60_000);
    const pace = await Pace.begin();
    const steps = await sweepMeasured(world);
    expect(steps.reduce((sum, { changes }) => sum + changes, 0)).to.be.within(many, many + 1);
    await expectBounded(steps, pace);
    expect((await world.get(path)).body).to.include({ waiting: 0, usedUnits: many, availableUnits: 0 });
  });
});
