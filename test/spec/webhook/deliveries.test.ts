import { expect } from 'chai';
import type { MusterService } from '../../../src/service.ts';
import { delivering } from '../../support/webhooks.ts';
import { World } from '../../support/world.ts';

const url = 'http://127.0.0.1:1/';

describe('GET /deliveries', () => {
  let service: MusterService;
  before(async () => {
    service = await delivering({ role: 'api' });
  });
  after(() => service.stop());

  /** Two destinations, and the ids of five attempts, newest first: of the first one, the second one, and so on. */
  async function attempted() {
    const world = await World.create({ on: service });
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) ids.push((await world.made('/destinations', { url })).id);
    const created: string[] = [];
    for (let i = 0; i < 5; i++) created.unshift((await world.made(`/destinations/${ids[i % 2]}/test`)).id);
    return { world, ids, made: created };
  }

  async function pages(world: World, query: string): Promise<string[][]> {
    const found: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await world.get(`/deliveries?${query}${cursor && `&cursor=${cursor}`}`);
      found.push(body.deliveries.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor;
    }
    return found;
  }

  it('lists attempts, newest first, in pages, of all destinations or one', async () => {
    const { world, ids, made } = await attempted();
    const [e, d, c, b, a] = made;
    expect(await pages(world, 'limit=2')).to.deep.equal([[e, d], [c, b], [a]]);
    expect(await pages(world, 'limit=5')).to.deep.equal([made]);
    expect(await pages(world, `limit=2&destinationId=${ids[0]}`)).to.deep.equal([[e, c], [a]]);
    expect(await pages(world, `limit=1&destinationId=${ids[1]}`)).to.deep.equal([[d], [b], []]);
  });

  it('examines 1,000 attempts per page for those of one destination: a page may be empty, and the next one finds them', async () => {
    const { world, ids, made } = await attempted();
    const [destinationId = '', other = ''] = ids;
    const delivery = { destinationId: other, entryId: '1-1', eventType: 'mailbox.created', attempt: 1, durationMs: 1 };
    const outcome = { responseStatus: '204', errorCode: '', attemptedAt: Date.now(), pauseMs: 0, scale: 1 };
    const args = { spaceId: world.spaceId, requestId: '', ...delivery, ...outcome };
    const run = () => service.scripts.run('webhook/finish', world.org, args);
    await Promise.all(Array.from({ length: 1000 }, run));
    expect(await pages(world, `destinationId=${destinationId}`)).to.deep.equal([[], [made[0], made[2], made[4]]]);
  });
});
