import { Watching } from '../../support/watching.ts';
import { World } from '../../support/world.ts';

describe('80 watchers with random disconnects over 300 events', () => {
  it('receive exactly the events of their filters: no gap, nothing out of order', async () => {
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    const watching = await Watching.start(world, { watchers: 80, events: 300 });
    await watching.produce();
    await watching.finish();
  });
});
