import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { listAudit } from '../../../src/primitives/org/admin.ts';
import { codeOf, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

const plain = { name: 'tokens', currency: 'EUR', scale: 2, limitMinor: '5000' };

describe('POST /budgets', () => {
  it('creates a budget: 201 with the whole limit available; once, however often it is sent with its Idempotency-Key', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const headers = { 'Idempotency-Key': 'create-1' };
    const { status, body } = await world.post('/budgets', { ...plain, currency: 'eUr' }, headers);
    expect(status).to.equal(201);
    expect(body).to.deep.include({
      ...{ ...plain, createdAt: new Date(now).toISOString() },
      balances: { limit: '5000', reserved: '0', settled: '0', available: '5000', overdrawn: '0' },
    });
    const again = await world.post('/budgets', { ...plain, currency: 'eUr' }, headers);
    expect([again.status, again.body]).to.deep.equal([201, body]);
    expect((await world.get(`/budgets/${body.id}`)).body, 'as it is kept').to.deep.include(body);
    const { events } = (await world.get('/events')).body;
    expect(events).to.have.lengthOf(1);
    expect(events[0]).to.deep.include({
      type: 'budget.created',
      aggregate: 'budget',
      aggregateId: body.id,
      scopeId: null,
    });
    expect(events[0].payload).to.deep.equal({ budgetId: body.id, limitMinor: '5000' });
  });

  it('writes an audit entry that names the key', async () => {
    const world = await World.create();
    const { id } = await world.mustPost('/budgets', { ...plain, name: 'a "quoted" name' });
    const { entries } = await listAudit(world.service, world.org);
    const entry = entries.find(({ action }) => action === 'budget.created');
    expect(entry).to.deep.include({ target: id, detail: { ...plain, name: 'a "quoted" name' } });
    expect(entry)
      .to.have.property('actor')
      .that.matches(/^[0-9a-f-]{36}$/);
  });

  it('50 creates with one name at once make one budget; the others are refused with BUDGET_EXISTS', async () => {
    const world = await World.create();
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => world.post('/budgets', { ...plain, limitMinor: `${i}` })),
    );
    expect(replies.filter(({ status }) => status === 201)).to.have.lengthOf(1);
    expect(replies.filter((reply) => codeOf(reply) === '409 BUDGET_EXISTS')).to.have.lengthOf(49);
    expect((await world.get('/budgets')).body.budgets).to.have.lengthOf(1);
    await (await world.anotherSpace()).mustPost('/budgets', plain);
  });

  it('accepts amounts as strings of up to 18 digits, leading zeros included: "007" is 7', async () => {
    const world = await World.create();
    const limitOf = async (limitMinor: unknown) => {
      const reply = await world.post('/budgets', { ...plain, name: randomUUID(), limitMinor });
      return reply.body.limitMinor ?? codeOf(reply);
    };
    expect(await limitOf('007')).to.equal('7');
    expect(await limitOf('000000000000000000')).to.equal('0');
    expect(await limitOf('999999999999999999')).to.equal('999999999999999999');
    for (const wrong of [
      '0000000000000000007',
      '1000000000000000000',
      '',
      '-1',
      '+1',
      '1.0',
      '1e3',
      ' 1',
      '1\n',
      '１',
      7,
      null,
    ]) {
      expect(await limitOf(wrong), JSON.stringify(wrong)).to.equal('400 VALIDATION_FAILED');
    }
  });

  it('requires name, scale, limitMinor and a currency of three letters', async () => {
    const world = await World.create();
    for (const name of Object.keys(plain)) {
      const { [name as keyof typeof plain]: _, ...rest } = plain;
      expect(codeOf(await world.post('/budgets', rest)), name).to.equal('400 VALIDATION_FAILED');
    }
    for (const currency of ['EU', 'EURO', 'E1R'])
      expect(codeOf(await world.post('/budgets', { ...plain, currency })), currency).to.equal('400 VALIDATION_FAILED');
  });
});

describe('GET /budgets', () => {
  it('lists budgets, newest first, in pages', async () => {
    const world = await World.create();
    const start = Date.now();
    const created: string[] = [];
    for (let i = 0; i < 5; i++) {
      await world.at(start + i);
      created.unshift((await world.mustPost('/budgets', { ...plain, name: `b${i}` })).id);
    }
    const pages: string[][] = [];
    let cursor = '';
    do {
      const { body } = await world.get(`/budgets?limit=2${cursor && `&cursor=${cursor}`}`);
      pages.push(body.budgets.map(({ id }: { id: string }) => id));
      cursor = body.nextCursor ?? '';
    } while (cursor);
    expect(pages).to.deep.equal([created.slice(0, 2), created.slice(2, 4), created.slice(4)]);
    const spent = new Purse(world, created[0] ?? '');
    await spent.settle((await spent.reserve('7')).body.id, '3');
    const { reservations: _, spentByLabel: __, nextCursor: ___, ...seen } = await spent.view();
    expect((await world.get('/budgets?limit=1')).body.budgets).to.deep.equal([seen]);
  });
});
