import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Store } from '../../../src/engine/redis/connection.ts';
import type { Scripts } from '../../../src/engine/redis/scripts.ts';
import type { Wake } from '../../../src/engine/redis/wake.ts';
import { type Attempt, Dispatcher } from '../../../src/jobs/workers/dispatcher.ts';
import { Journal } from '../../../src/primitives/event/journal.ts';
import type { Segments } from '../../../src/primitives/event/segments.ts';
import { until } from '../../support/processes.ts';

const turn = () => new Promise(setImmediate);

describe('Dispatching due deliveries of a space', () => {
  /** A dispatcher whose scripts `ask` answers, on a store with these spaces. */
  function dispatcherWith(ask: (...args: [call: unknown, org: string]) => Promise<object>, spaces: string[] = []) {
    const dispatched: Attempt[] = [];
    const scripts = { ask } as unknown as Scripts;
    const journal = new Journal(scripts, {} as Segments, {} as never);
    const store = { sscan: async () => ['0', spaces] } as unknown as Store;
    const listening = { ready: Promise.resolve(), stop: () => undefined };
    const wake = { listen: () => listening } as unknown as Wake;
    const parts = { store, wake, log: {} as never, scripts, journal };
    const dispatcher = new Dispatcher(parts, async (attempts) => void dispatched.push(...attempts));
    return { dispatcher, dispatched };
  }

  it('runs again for callers that ask meanwhile and while there is more, until it is stopped', async () => {
    const runs: ((left: number, ...attempts: unknown[]) => void)[] = [];
    const { dispatcher, dispatched } = dispatcherWith(
      () =>
        new Promise((resolve) =>
          runs.push((more, ...attempts) => resolve({ more, attempts, nextInMs: null, spaceNumber: '1' })),
        ),
    );

    const [first, ...others] = [1, 2, 3].map(() => dispatcher.poke('org space'));
    expect(runs).to.have.length(1);
    runs[0]?.(0, { destinationId: 'd', entryId: '1-0', number: 1 });
    await first;
    await turn();
    runs[1]?.(1);
    await turn();
    runs[2]?.(0);
    await Promise.all(others);
    expect(runs).to.have.length(3);
    expect(dispatched).to.deep.equal([{ org: 'org', spaceId: 'space', destinationId: 'd', entryId: '1-0', number: 1 }]);

    const last = dispatcher.poke('org space');
    const stopped = dispatcher.stop();
    runs[3]?.(1);
    await Promise.all([last, stopped]);
    expect(runs).to.have.length(4);
  });

  it('does not wait for spaces in which something happens all the time', async () => {
    let quiet = 0;
    const { dispatcher } = dispatcherWith(
      async (_, org) => {
        if (org === 'quiet') quiet++;
        else await sleep(1);
        // An event that happens meanwhile.
        if (org === 'busy') void dispatcher.poke('busy space');
        return { more: org === 'endless' ? 1 : 0, attempts: [], nextInMs: 0, spaceNumber: '1' };
      },
      ['busy space', 'endless space', 'quiet space'],
    );
    dispatcher.start();
    await until(() => quiet === 3);
    await dispatcher.stop();
  });
});
