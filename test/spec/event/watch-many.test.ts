import { Watching } from '../../support/watching.ts';
import { World } from '../../support/world.ts';

describe('40 watchers with random disconnects over 150 events', () => {
  it('receive exactly the events of their filters: no gap, nothing out of order', async () => {
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    const watching = await Watching.start(world, { watchers: 40, events: 150 });
    await watching.produce();
    await watching.finish();
  });
});
