import { expect } from 'chai';
import { Outbox } from './steps.ts';

describe('GET /deliveries', () => {
  /** Two destinations, and five attempts: of the first one, the second one, and so on. */
  async function attempted() {
    const outbox = await Outbox.create();
    const ids = [await outbox.register(), await outbox.register()];
    const attempt = (destinationId = '', number = 0) => outbox.finish(destinationId, '1-1', number, outbox.start);
    for (let number = 1; number <= 5; number++) await attempt(ids[(number - 1) % 2], number);
    /** The numbers of the attempts on each page. */
    const pages = async (query: string): Promise<string[]> => {
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await outbox.world.get(`/deliveries?${query}${cursor && `&cursor=${cursor}`}`);
        found.push(body.deliveries.map((one: { attempt: number }) => one.attempt).join(' '));
        cursor = body.nextCursor;
      }
      return found;
    };
    return { ids, attempt, pages };
  }

  it('lists attempts, newest first, in pages, of all destinations or one', async () => {
    const { ids, pages } = await attempted();
    expect(await pages('limit=2')).to.deep.equal(['5 4', '3 2', '1']);
    expect(await pages('limit=5')).to.deep.equal(['5 4 3 2 1']);
    expect(await pages(`limit=2&destinationId=${ids[0]}`)).to.deep.equal(['5 3', '1']);
    expect(await pages(`limit=1&destinationId=${ids[1]}`)).to.deep.equal(['4', '2', '']);
  });

  it('a page examines 1,000 attempts for those of one destination, and may be empty with a cursor', async () => {
    const { ids, attempt, pages } = await attempted();
    await Promise.all(Array.from({ length: 1000 }, () => attempt(ids[1], 6)));
    expect(await pages(`destinationId=${ids[0]}`)).to.deep.equal(['', '5 3 1']);
  });
});
