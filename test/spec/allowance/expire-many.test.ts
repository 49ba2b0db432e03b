import { expect } from 'chai';
import { Pace } from '../../support/pace.ts';
import { expectBounded, fullQueue, many, sweepMeasured } from './script.ts';

describe('Many waiters that expire at one moment', () => {
  it('are ended in bounded steps', async () => {
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
