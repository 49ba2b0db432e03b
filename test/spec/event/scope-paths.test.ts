import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Scripts } from '../../../src/engine/redis/scripts.ts';
import { ScopePaths } from '../../../src/primitives/event/scope-paths.ts';
import { World } from '../../support/world.ts';

describe('scope paths that filter a watch', () => {
  it('stay known for a whole batch, even if it has more than the cache keeps', async () => {
    const world = await World.create();
    const mailbox = await world.mustPost('/mailboxes', { name: 'jobs' });
    const [old, other, ...fresh] = Array.from({ length: 4 }, () => randomUUID()) as [string, string, string, string];
    for (const scopeId of [old, other, ...fresh])
      await world.mustPost(`/mailboxes/${mailbox.id}/messages`, { scopeId, payload: 1 });

    let reads = 0;
    const ask: Scripts['ask'] = (...call) => {
      reads++;
      return world.service.scripts.ask(...call);
    };
    const paths = new ScopePaths({ ask } as Scripts, 3);
    const knows = (id: string): boolean => paths.isBelow(world.spaceId, id, id);
    for (const id of [old, other]) await paths.load(world.org, world.spaceId, [id]);
    const batch = [old, ...fresh];
    await paths.load(world.org, world.spaceId, batch);
    expect(batch.map(knows)).to.deep.equal([true, true, true]);
    expect(knows(other)).to.equal(false);
    expect(reads).to.equal(3);
    await paths.load(world.org, world.spaceId, ['', old]);
    expect(reads, 'nothing is asked twice, nor of what has no scope').to.equal(3);
    await paths.load(world.org, world.spaceId, [randomUUID(), other]);
    expect(knows(other), 'beside one that is not there').to.equal(true);
  });
});
