import { expect } from 'chai';
import { expectNeedsOperation, limitedWorld } from '../../support/plan.ts';
import { Outbox, oneToGet } from './steps.ts';

describe('a destination under a plan', () => {
  it('is made, changed, tested and deleted only with an operation left', async () => {
    const world = await limitedWorld();
    const hook = { url: 'https://127.0.0.1:9/hook', eventTypes: ['waiter.expired'] };
    const { id } = await world.mustPost('/destinations', hook);
    const path = `/destinations/${id}`;
    await expectNeedsOperation(
      world,
      [
        ['/destinations', hook],
        [path, { state: 'DISABLED' }, 'PATCH'],
        [`${path}/rotate-secret`],
        [`${path}/test`],
        [path, undefined, 'DELETE'],
      ],
      [],
    );
    expect((await world.get(path)).body.state).to.equal('ACTIVE');
  });
});

describe('the metrics of an outbox', () => {
  const ages = async ({ world }: Outbox): Promise<unknown> => {
    const args = { spaceId: '', requestId: '', counters: 'outbox:UNREAD', ages: 'oldestFailingAt', maxSpaces: 10 };
    const [, , sums, longest] = await world.service.scripts.execute('space/depths', world.org, args);
    return { unread: (sums as number[])[0], failingMs: (longest as number[])[0] };
  };

  it('have the time since when the longest failing destination fails, unless it is disabled', async () => {
    const { outbox, world, start, destinationId, begin, finish } = await oneToGet();
    expect(await ages(outbox)).to.deep.equal({ unread: 0, failingMs: 0 });
    await finish(1, await begin(), { responseStatus: '500', errorCode: 'STATUS' });
    await world.at(start + 1000);
    expect(await ages(outbox)).to.deep.equal({ unread: 0, failingMs: 1000 });
    const later = await outbox.register();
    await world.service.store.hset(outbox.key(later), 'failingSince', start + 600);
    expect(await ages(outbox), 'the longest').to.deep.include({ failingMs: 1000 });
    await world.call('PATCH', `/destinations/${destinationId}`, { state: 'DISABLED' });
    expect(await ages(outbox)).to.deep.include({ failingMs: 400 });
  });

  it('count what each active destination has still to read', async () => {
    const outbox = await Outbox.create();
    await outbox.register();
    await outbox.happen(2);
    const second = await outbox.register();
    await outbox.happen(1);
    expect(await ages(outbox)).to.deep.include({ unread: 5 });
    await outbox.world.call('PATCH', `/destinations/${second}`, { state: 'DISABLED' });
    expect(await ages(outbox)).to.deep.include({ unread: 5 });
  });
});
