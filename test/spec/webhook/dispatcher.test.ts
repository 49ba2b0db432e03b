import { expect } from 'chai';
import { Journal } from '../../../src/event/journal.ts';
import type { Segments } from '../../../src/event/segments.ts';
import type { Store } from '../../../src/redis/connection.ts';
import type { Scripts } from '../../../src/redis/scripts.ts';
import type { Wake } from '../../../src/redis/wake.ts';
import { type Attempt, Dispatcher } from '../../../src/workers/dispatcher.ts';

const turn = () => new Promise(setImmediate);

describe('Dispatching due deliveries of a space', () => {
  it('runs again for callers that ask meanwhile and while there is more, until it is stopped', async () => {
    const runs: ((left: number, ...attempts: unknown[]) => void)[] = [];
    const ask = () =>
      new Promise((resolve) =>
        runs.push((more, ...attempts) => resolve({ more, attempts, nextInMs: null, spaceNumber: '1' })),
      );
    const dispatched: Attempt[] = [];
    const scripts = { ask } as unknown as Scripts;
    const journal = new Journal(scripts, {} as Segments, {} as never);
    const parts = { store: {} as Store, wake: {} as Wake, log: {} as never, scripts, journal };
    const dispatcher = new Dispatcher(parts, async (attempts) => void dispatched.push(...attempts));

    const both = [dispatcher.poke('org space'), dispatcher.poke('org space')];
    expect(runs).to.have.length(1);
    runs[0]?.(0, { destinationId: 'd', entryId: '1-0', number: 1 });
    await turn();
    runs[1]?.(1);
    await turn();
    runs[2]?.(0);
    await Promise.all(both);
    expect(runs).to.have.length(3);
    expect(dispatched).to.deep.equal([{ org: 'org', spaceId: 'space', destinationId: 'd', entryId: '1-0', number: 1 }]);

    const last = dispatcher.poke('org space');
    const stopped = dispatcher.stop();
    runs[3]?.(1);
    await Promise.all([last, stopped]);
    expect(runs).to.have.length(4);
  });
});
