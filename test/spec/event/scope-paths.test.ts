import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ScopePaths } from '../../../src/event/scope-paths.ts';
import type { Scripts } from '../../../src/redis/scripts.ts';
import { World } from '../../support/world.ts';

describe('the paths of scopes by which a watch is filtered', () => {
  it('stay known for the whole of a batch, also when there are more than are kept', async () => {
    const world = await World.create();
    const mailbox = await world.made('/mailboxes', { name: 'jobs' });
    const [old, other, ...fresh] = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
    for (const scopeId of [old, other, ...fresh])
      await world.made(`/mailboxes/${mailbox.id}/messages`, { scopeId, payload: 1 });

    let asked = 0;
    const ask: Scripts['ask'] = (...call) => {
      asked++;
      return world.service.scripts.ask(...call);
    };
    const paths = new ScopePaths({ ask } as Scripts, 3);
    const knows = (id: string): boolean => paths.isBelow(world.spaceId, id, id);
    for (const id of [old, other]) await paths.load(world.org, world.spaceId, [id]);
    const batch = [old, ...fresh];
    await paths.load(world.org, world.spaceId, batch);
    expect(batch.map(knows)).to.deep.equal([true, true, true]);
    expect(knows(other)).to.equal(false);
    expect(asked).to.equal(3);
    await paths.load(world.org, world.spaceId, ['', old]);
    expect(asked, 'nothing is asked twice, nor of what has no scope').to.equal(3);
    await paths.load(world.org, world.spaceId, [randomUUID(), other]);
    expect(knows(other), 'beside one that is not there').to.equal(true);
  });
});
