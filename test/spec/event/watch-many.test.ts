import { Watching } from '../../support/watching.ts';
import { World } from '../../support/world.ts';

describe('60 watchers with random disconnects over 200 events', () => {
  it('receive exactly the events of their filters: no gap, nothing out of order', async () => {
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    const watching = await Watching.start(world, { watchers: 60, events: 200 });
    await watching.produce();
    await watching.finish();
  });
});
