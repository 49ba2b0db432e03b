import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { Purse } from './purse.ts';

describe('GET /budgets/{id}', () => {
  type Names = ReadonlyMap<string, string>;
  const namesIn = (page: { reservations: { id: string }[] }, nameOf: Names) =>
    page.reservations.map(({ id }) => nameOf.get(id)).join(' ');

  /** Reservations r0 … r7, created a millisecond apart: 0 and 3 settled, 1 and 6 voided, the others ACTIVE. */
  async function filled(): Promise<{ purse: Purse; nameOf: Names }> {
    const purse = await Purse.create();
    const nameOf = new Map<string, string>();
    const start = Date.now();
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) {
      await purse.world.at(start + i);
      ids.push((await purse.reserve('10')).body.id);
      nameOf.set(ids[i] ?? '', `r${i}`);
    }
    for (const i of [3, 0]) await purse.settle(ids[i] ?? '', '10');
    for (const i of [6, 1]) await purse.void(ids[i] ?? '');
    return { purse, nameOf };
  }

  it('shows the balances and the reservations: ACTIVE first, then closed, each newest first, in pages of any size', async () => {
    const { purse, nameOf } = await filled();
    const whole = await purse.view();
    expect(whole.balances).to.deep.equal({
      limit: '1000',
      reserved: '40',
      settled: '20',
      available: '940',
      overdrawn: '0',
    });
    expect([namesIn(whole, nameOf), whole.nextCursor]).to.deep.equal(['r7 r5 r4 r2 r6 r3 r1 r0', null]);
    for (const limit of [1, 2, 3, 4, 7, 8]) {
      const pages: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = await purse.view(`?limit=${limit}${cursor && `&cursor=${cursor}`}`);
        pages.push(namesIn(page, nameOf));
        cursor = page.nextCursor;
      }
      expect(pages.join(' '), `in pages of ${limit}`).to.equal('r7 r5 r4 r2 r6 r3 r1 r0');
      expect(pages).to.have.length(Math.ceil(8 / limit));
    }
  });

  it('filters by state, one or a comma-separated list; an unknown state is 400', async () => {
    const { purse, nameOf } = await filled();
    const names = async (query: string): Promise<string> => namesIn(await purse.view(query), nameOf);
    expect(await names('?state=ACTIVE')).to.equal('r7 r5 r4 r2');
    expect(await names('?state=SETTLED')).to.equal('r3 r0');
    expect(await names('?state=VOIDED,ACTIVE')).to.equal('r7 r5 r4 r2 r6 r1');
    expect(await names('?state=SETTLED,VOIDED&limit=3')).to.equal('r6 r3 r1');
    expect(codeOf(await purse.world.get(`/budgets/${purse.id}?state=OPEN`))).to.equal('400 VALIDATION_FAILED');
  });

  it('continues after the cursor if its reservation was closed meanwhile, without missing an ACTIVE one', async () => {
    const { purse, nameOf } = await filled();
    const first = await purse.view('?limit=2');
    await purse.void(first.reservations[1].id);
    const second = await purse.view(`?limit=2&cursor=${first.nextCursor}`);
    expect(namesIn(second, nameOf)).to.equal('r4 r2');
  });

  it('answers 400 INVALID_CURSOR for a cursor that this list did not issue', async () => {
    const purse = await Purse.create();
    for (const inside of [
      'active',
      'open 0190a1b2-0000-7000-8000-000000000000',
      '0190a1b2-0000-7000-8000-000000000000',
    ]) {
      const cursor = Buffer.from(inside).toString('base64url');
      expect(codeOf(await purse.world.get(`/budgets/${purse.id}?cursor=${cursor}`))).to.equal('400 INVALID_CURSOR');
    }
    await purse.world.mustPost('/budgets', { name: 'other', currency: 'EUR', scale: 2, limitMinor: '1' });
    const { nextCursor } = (await purse.world.get('/budgets?limit=1')).body;
    expect((await purse.world.get(`/budgets?cursor=${nextCursor}`)).status).to.equal(200);
    expect(codeOf(await purse.world.get(`/budgets?cursor=${nextCursor}=`))).to.equal('400 INVALID_CURSOR');
  });
});
