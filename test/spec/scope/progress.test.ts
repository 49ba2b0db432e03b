import { expect } from 'chai';
import { World } from '../../support/world.ts';
import { Run } from './run.ts';

const none = { acked: 0, rejected: 0, failed: 0, expired: 0, cancelled: 0 };

describe('A scope says how its messages have ended', () => {
  it('a scope counts its own ends and those below, less what a requeue has brought back', async () => {
    const run = await Run.create();
    const { world } = run;
    const inner = await run.below();
    const [outer] = await run.sent(1);
    await inner.sent(2);
    expect((await run.view()).ended).to.deep.equal(none);
    const claims = [await inner.recv(), await inner.recv()].map(({ body }) => body);
    await world.mustPost(`/messages/${claims[0].id}/complete`, { token: claims[0].token });
    await world.mustPost(`/messages/${claims[1].id}/nack`, { token: claims[1].token, retry: false });
    await world.mustPost(`/messages/${outer}/cancel`);
    expect((await inner.view()).ended).to.deep.equal({ ...none, acked: 1, rejected: 1 });
    expect(await run.view()).to.deep.include({
      state: 'IDLE',
      ended: { ...none, acked: 1, rejected: 1, cancelled: 1 },
    });
    await world.mustPost(`/messages/${claims[1].id}/requeue`);
    expect((await run.view()).ended).to.deep.equal({ ...none, acked: 1, cancelled: 1 });
    const { body } = await world.get(`/scopes?limit=1`);
    expect(body.scopes[0]).to.have.property('ended');
  });
});

describe('GET /scopes with namePrefix', () => {
  it('finds those whose names begin so, page by page, from the last name to the first', async () => {
    const world = await World.create();
    for (const name of ['desk 1', 'desk 2', 'desk 2', 'des', 'desks and a chair', 'desk ÿ', 'other'])
      await world.mustPost('/scopes', { name });
    const names = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for (let cursor = ''; ; ) {
        const { body } = await world.get(`/scopes?limit=2&${query}${cursor}`);
        found.push(...body.scopes.map(({ name }: { name: string }) => name));
        if (body.nextCursor === null) return found;
        cursor = `&cursor=${body.nextCursor}`;
      }
    };
    expect(await names('namePrefix=desk')).to.deep.equal(['desks and a chair', 'desk ÿ', 'desk 2', 'desk 2', 'desk 1']);
    expect(await names('namePrefix=desk+2')).to.deep.equal(['desk 2', 'desk 2']);
    expect(await names('namePrefix=desk&state=CANCELLED')).to.deep.equal([]);
    expect(await names('namePrefix=x')).to.deep.equal([]);
  });
});
