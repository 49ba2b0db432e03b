import { expect } from 'chai';
import { createSpace } from '../../../src/primitives/org/admin.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';

describe('GET /v1/spaces', () => {
  let world: World;
  let ids: string[];
  before(async () => {
    world = await World.create();
    ids = [world.spaceId];
    for (const name of ['staging', 'production', 'night'])
      ids.push((await createSpace(world.service, { org: world.org, name })).spaceId);
  });

  const list = (query = '', apiKey = world.apiKey): Promise<Reply> =>
    world.send('GET', `/v1/spaces${query}`, undefined, { Authorization: `Bearer ${apiKey}` });
  const idsOf = ({ body }: Reply): string[] => body.spaces.map(({ id }: { id: string }) => id);
  const newestFirst = () => ids.toReversed();

  it('lists all spaces of the organization, newest first, to a key for every space', async () => {
    const reply = await list();
    expect(reply.status).to.equal(200);
    expect(idsOf(reply)).to.deep.equal(newestFirst());
    expect(reply.body.nextCursor).to.equal(null);
    const [newest] = reply.body.spaces;
    expect(Object.keys(newest)).to.have.members(['id', 'name', 'createdAt']);
    expect(newest.name).to.equal('night');
    expect(reply.body.spaces.at(-1).name).to.equal(null);
  });

  it('lists only its own spaces to a limited key, whatever its permissions', async () => {
    const visible = [ids[2] ?? '', ids[0] ?? ''];
    for (const permission of ['coordination_read', 'coordination_write', 'resource_config']) {
      const key = await world.key([permission], visible);
      expect(idsOf(await list('', key))).to.deep.equal(visible);
      const first = await list('?limit=1', key);
      expect(idsOf(first)).to.deep.equal([visible[0]]);
      const second = await list(`?limit=1&cursor=${first.body.nextCursor}`, key);
      expect([idsOf(second), second.body.nextCursor]).to.deep.equal([[visible[1]], null]);
    }
  });

  it('lists each space once in pages of 1 to 200', async () => {
    const found: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Reply = await list(`?limit=3${cursor && `&cursor=${cursor}`}`);
      found.push(...idsOf(page));
      cursor = page.body.nextCursor;
    }
    expect(found).to.deep.equal(newestFirst());
    for (const query of ['?limit=0', '?limit=201', '?other=1'])
      expect(codeOf(await list(query)), query).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await list('?cursor=x'))).to.equal('400 INVALID_CURSOR');
  });

  it('needs a key; other methods, and paths below it that name no space, are refused as everywhere', async () => {
    expect(codeOf(await world.send('GET', '/v1/spaces'))).to.equal('401 UNAUTHENTICATED');
    expect(codeOf(await list('', `mk_${world.org}_${'x'.repeat(43)}`))).to.equal('401 INVALID_API_KEY');
    const post = await world.send('POST', '/v1/spaces');
    expect([codeOf(post), post.headers.get('allow')]).to.deep.equal(['405 METHOD_NOT_ALLOWED', 'GET, HEAD']);
    expect(codeOf(await world.send('GET', '/v1/spacesx'))).to.equal('404 ROUTE_NOT_FOUND');
    expect(codeOf(await world.send('GET', '/v1/spaces/'))).to.equal('404 ROUTE_NOT_FOUND');
    const other = await World.create();
    expect(idsOf(await list('', other.apiKey))).to.deep.equal([other.spaceId]);
  });

  it("counts against the organization's rate, not a space's, and is refused by it", async () => {
    const small = await World.create({ plan: 'enterprise', figures: { rpm: '10' } });
    await small.at(Math.ceil(Date.now() / 60_000) * 60_000);
    const ask = () => small.send('GET', '/v1/spaces', undefined, { Authorization: `Bearer ${small.apiKey}` });
    for (let left = 7; left >= 0; left--) {
      const { status, headers } = await ask();
      expect([status, headers.get('ratelimit')]).to.deep.equal([200, `"org";r=${left};t=60`]);
      expect(headers.get('ratelimit-policy')).to.equal('"org";q=10;w=60');
    }
    expect(codeOf(await ask())).to.equal('429 SERVICE_RATE_LIMITED');
    const { store } = small.service;
    expect(await store.hget(`muster:{${small.org}}:${small.spaceId}`, 'usedRequests')).to.equal('0');
    expect(await store.hget(`muster:{${small.org}}`, 'usedRequests')).to.equal('8');
    expect(codeOf(await small.get('/budgets'))).to.equal('429 SERVICE_RATE_LIMITED');
  });
});
