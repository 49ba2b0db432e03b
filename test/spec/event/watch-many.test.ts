import { Watching } from '../../support/watching.ts';
import { World } from '../../support/world.ts';

describe('200 watchers with random disconnects over 2,000 events', () => {
  it('every filter is exact: no gap, nothing out of order', async function () {
    this.timeout(60_000);
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    const watching = await Watching.start(world, { watchers: 200, events: 2_000 });
    await watching.produce();
    await watching.finish();
  });
});
