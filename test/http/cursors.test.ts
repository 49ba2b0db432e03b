import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { allRoutes } from '../../src/primitives/primitives.ts';
import { samples } from '../support/sample.ts';
import { codeOf, World } from '../support/world.ts';

describe('An empty cursor', () => {
  it('is INVALID_CURSOR on every list, in a query and in a body', async () => {
    const world = await World.create();
    const lists = allRoutes.filter(({ query, body }) =>
      [query, body].some((schema) => schema?.describe().keys?.cursor !== undefined),
    );
    expect(lists).to.have.length.above(15);
    for (const { method, path, query, body } of lists) {
      const at = path.replaceAll(/:\w+/g, () => randomUUID());
      const inQuery = query?.describe().keys?.cursor !== undefined;
      const reply = inQuery
        ? await world.get(`${at}?cursor=`)
        : await world.call(method, at, { ...samples(body)[0], cursor: '' });
      expect(codeOf(reply), `${method} ${path}`).to.equal('400 INVALID_CURSOR');
    }
  });
});
