import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { Purse } from './purse.ts';

describe('reserve with a workKey', () => {
  it('creates a reservation that carries it; without one, workKey is null', async () => {
    const purse = await Purse.create();
    const { status, body } = await purse.reserve('300', { workKey: 'job-1' });
    expect([status, body.workKey, body.replay]).to.deep.equal([201, 'job-1', false]);
    expect((await purse.reserve('1', { workKey: null })).body).to.include({ workKey: null, replay: false });
    const [, shown] = (await purse.view()).reservations;
    expect(shown).to.include({ id: body.id, workKey: 'job-1' });
    const run = (await purse.world.get(`/ops/runs/${purse.scopeId}`)).body;
    expect(run.reservations.map(({ workKey }: { workKey: string }) => workKey)).to.have.members(['job-1', null]);
    expect((await purse.settle(body.id, '1')).body.reservation.workKey).to.equal('job-1');
  });

  it('a repeat of the same amount is answered with the first reservation and replay:true', async () => {
    const purse = await Purse.create();
    const { id } = (await purse.reserve('300', { workKey: 'job-1' })).body;
    await purse.settle(id, '100');
    const key = await purse.world.key(['resource_config']);
    const other = { workKey: 'job-1', holder: 'agent-2', scopeId: randomUUID(), settleBy: '2020-01-01T00:00:00.000Z' };
    const again = await purse.reserve('0300', other, { Authorization: `Bearer ${key}` });
    expect(again.status).to.equal(201);
    expect(again.body).to.include({ id, replay: true, holder: 'agent-1', scopeId: purse.scopeId, settleBy: null });
    expect(again.body).to.include({ state: 'ACTIVE', amountMinor: '300', settledMinor: '100', remainingMinor: '200' });
    expect(again.body.balances).to.deep.equal({
      limit: '1000',
      reserved: '200',
      settled: '100',
      available: '700',
      overdrawn: '0',
    });
    await purse.void(id);
    expect((await purse.reserve('300', { workKey: 'job-1' })).body).to.include({ id, state: 'VOIDED', replay: true });
    expect(await purse.balances()).to.equal('1000 0 100 900');
    const emitted = (await purse.world.eventTypes()).filter((type) => type === 'budget.reserved');
    expect(emitted).to.have.lengthOf(1);
    expect(await purse.counters('op:budget.reserve')).to.deep.equal(['1']);
    expect(codeOf(await purse.world.get(`/ops/runs/${other.scopeId}`))).to.equal('404 SCOPE_NOT_FOUND');
  });

  it('a repeat with another amount is WORK_KEY_CONFLICT; keys are separate per budget and from settles', async () => {
    const purse = await Purse.create('300');
    const { id } = (await purse.reserve('300', { workKey: 'job-1' })).body;
    expect((await purse.reserve('300', { workKey: 'job-1' })).body, 'before it looks at funds').to.include({ id });
    expect(codeOf(await purse.reserve('301', { workKey: 'job-1' }))).to.equal('409 WORK_KEY_CONFLICT');
    expect((await purse.settle(id, '5', 'job-1')).body.replay).to.equal(false);
    const other = await Purse.create('1000', purse.world);
    const elsewhere = (await other.reserve('301', { workKey: 'job-1' })).body;
    expect([elsewhere.replay, elsewhere.id === id]).to.deep.equal([false, false]);
    expect(codeOf(await purse.reserve('1', { workKey: 'more' }))).to.equal('409 INSUFFICIENT_BUDGET');
    // It took nothing, not even its key.
    await purse.void(id);
    expect((await purse.reserve('2', { workKey: 'more' })).body.replay).to.equal(false);
  });

  it('reserves exactly once when many run in parallel, and answers all with that reservation', async () => {
    const purse = await Purse.create();
    const all = await Promise.all(Array.from({ length: 40 }, () => purse.reserve('300', { workKey: 'job' })));
    expect(all.map(({ status }) => status)).to.deep.equal(all.map(() => 201));
    expect(new Set(all.map(({ body }) => body.id)).size).to.equal(1);
    expect(all.filter(({ body }) => !body.replay)).to.have.lengthOf(1);
    expect(await purse.balances()).to.equal('1000 300 0 700');
  });
});
