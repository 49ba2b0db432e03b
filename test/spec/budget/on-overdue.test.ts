import { expect } from 'chai';
import { randomTail } from '../../../src/engine/route/args.ts';
import { apiKeyDigest } from '../../../src/engine/route/caller.ts';
import { expectAgreement } from '../../support/agree.ts';
import { journalOf } from '../../support/journal.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

/** A moment at which windows of a minute, an hour and a day begin. */
const start = Date.UTC(2030, 0, 1);
const minutes = (n: number): number => start + n * 60_000;
const settleAt = (at: number) => ({ settleBy: new Date(at).toISOString(), onOverdue: 'SETTLE' });

async function worldAt(at: number): Promise<World> {
  const world = await World.create();
  await world.at(at);
  return world;
}

const sweep = (world: World): Promise<unknown> => world.service.due.drain(world.org);

const events = async (world: World): Promise<Reply['body'][]> => (await world.get('/events?limit=500')).body.events;

const of = (purse: Purse, reservationId: string, work: string): Promise<Reply['body']> =>
  purse
    .view(`?state=${work}`)
    .then(({ reservations }) => reservations.find(({ id }: { id: string }) => id === reservationId));

/** Runs a script of a budget as if the last sweep had been at a moment. */
function runAfterSweep(purse: Purse, sweptThrough: number, script: string, fields: Record<string, string>) {
  const { world } = purse;
  const caller = { apiKeyDigest: apiKeyDigest(world.apiKey), permission: 'resource_config', spaceId: world.spaceId };
  const request = {
    ...{ rateClass: 'recovery', callName: `budget.${script}`, idempotencyDigest: '', fingerprint: '', requestId: '' },
    ...{ openedMessages: '', sweptThrough, tail: randomTail(), budgetId: purse.id },
  };
  return world.service.scripts.execute(`budget/${script}`, world.org, { ...caller, ...request, ...fields });
}

describe('onOverdue', () => {
  it('is KEEP or SETTLE, KEEP by default, and is part of the record; SETTLE without settleBy is 400', async () => {
    const purse = await Purse.create('100', await worldAt(start));
    expect((await purse.reserve('1')).body.onOverdue).to.equal('KEEP');
    expect((await purse.reserve('1', { onOverdue: 'KEEP' })).body.onOverdue).to.equal('KEEP');
    const made = (await purse.reserve('1', settleAt(minutes(1)))).body;
    expect(made).to.include({ onOverdue: 'SETTLE', overdue: false, state: 'ACTIVE' });
    const run = await purse.world.get(`/ops/runs/${purse.scopeId}`);
    for (const { reservations } of [await purse.view(), run.body])
      expect(reservations.map(({ onOverdue }: Reply['body']) => onOverdue).sort()).to.deep.equal([
        'KEEP',
        'KEEP',
        'SETTLE',
      ]);
    const lacking = await purse.reserve('1', { onOverdue: 'SETTLE' });
    expect(codeOf(lacking)).to.equal('400 VALIDATION_FAILED');
    expect(lacking.body.error.message).to.equal('onOverdue SETTLE may only be sent with settleBy');
    for (const onOverdue of ['VOID', 'settle', '', 1])
      expect(codeOf(await purse.reserve('1', { ...settleAt(minutes(1)), onOverdue }))).to.equal(
        '400 VALIDATION_FAILED',
      );
  });

  it('SETTLE books the rest as spent at settleBy, with the label overdue and two events, as no operation', async () => {
    const purse = await Purse.create('100', await worldAt(start));
    const { world } = purse;
    const { id } = (await purse.reserve('60', settleAt(start + 1000))).body;
    await purse.settle(id, '25', 'w1', { label: 'model' });
    await world.at(start + 999);
    expect(await purse.balances()).to.equal('100 35 25 40');
    const { operations } = (await world.get('/usage')).body;
    await world.at(start + 5000);
    await sweep(world);
    expect(await purse.balances()).to.equal('100 0 60 40');
    expect(await of(purse, id, 'SETTLED')).to.include({
      ...{ state: 'SETTLED', settledMinor: '60', voidedMinor: '0', remainingMinor: '0', amountMinor: '60' },
      ...{ overdue: true, onOverdue: 'SETTLE', closedAt: new Date(start + 1000).toISOString() },
    });
    expect((await purse.view()).spentByLabel).to.deep.equal({ model: '25', overdue: '35' });
    expect((await world.get('/usage')).body.operations).to.deep.equal(operations);
    const [overdue, settled] = (await events(world)).slice(-2);
    const shared = { budgetId: purse.id, scopeId: purse.scopeId, reservationId: id };
    expect(overdue?.['type']).to.equal('budget.reservation_overdue');
    expect(overdue?.['payload']).to.deep.equal({ ...shared, state: 'ACTIVE' });
    expect(settled?.['type']).to.equal('budget.settled');
    const { entryId, ...payload } = settled?.['payload'] ?? {};
    expect(payload).to.deep.equal({ ...shared, state: 'SETTLED', amountMinor: '35' });
    expect(entryId).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(await purse.counters('timers:ARMED', 'reservations:ACTIVE', 'reservations:SETTLED')).to.deep.equal([
      '0',
      '0',
      '1',
    ]);
    await expectAgreement(world);
  });

  it('SETTLE refuses later settles and voids, and says why; a settle that came before is replayed', async () => {
    const purse = await Purse.create('100', await worldAt(start));
    const { id } = (await purse.reserve('60', settleAt(start + 1000))).body;
    await purse.settle(id, '25', 'w1');
    await purse.world.at(start + 1000);
    for (const late of [await purse.settle(id, '1'), await purse.overrun(id, '99'), await purse.void(id)]) {
      expect(codeOf(late)).to.equal('409 RESERVATION_CLOSED');
      expect(late.body.error.message).to.equal(
        'the reservation was overdue at its settleBy, and the rest of it was settled then: nothing is left to settle or void',
      );
    }
    const again = await purse.settle(id, '25', 'w1');
    expect(again.body).to.deep.include({ replay: true });
    expect(again.body.reservation).to.include({ state: 'SETTLED', settledMinor: '60', overdue: true });
    const inTime = (await purse.reserve('10', settleAt(start + 2000))).body.id;
    await purse.settle(inTime, '10');
    expect((await purse.settle(inTime, '1')).body.error.message).to.contain('is SETTLED: nothing is left');
    await purse.world.at(start + 3000);
    expect(await of(purse, inTime, 'SETTLED')).to.include({ overdue: false });
    expect((await purse.settle(inTime, '1')).body.error.message).to.contain('is SETTLED: nothing is left');
  });

  it('SETTLE counts in the window in which settleBy lies at each level, however late the sweep is', async () => {
    const world = await worldAt(start + 1000);
    const root = await Purse.create('1000', world, { windowSeconds: 3600 });
    const team = await Purse.create('500', world, { parentBudgetId: root.id, windowSeconds: 60 });
    const purse = await Purse.create('100', world, { parentBudgetId: team.id });
    await purse.reserve('40', settleAt(minutes(2) + 1));
    await purse.reserve('30', settleAt(minutes(2) + 59_999));
    await purse.reserve('20', settleAt(minutes(61)));
    await world.at(minutes(2) + 59_999);
    await sweep(world);
    const shown = async (): Promise<string[]> =>
      Promise.all(
        [root, team, purse].map(async (one) => `${await one.balances()}, ${(await one.view()).settledTotal}`),
      );
    expect(await shown()).to.deep.equal(['1000 20 70 910, 70', '500 20 70 410, 70', '100 20 70 10, 70']);
    expect((await team.view()).spentByLabel).to.deep.equal({ overdue: '70' });
    // No process looked for two hours: the third is settled in its own windows, which have passed since.
    await world.at(minutes(130));
    await sweep(world);
    expect(await shown()).to.deep.equal(['1000 0 0 1000, 90', '500 0 0 500, 90', '100 0 90 10, 90']);
    for (const one of [root, team]) expect((await one.view()).spentByLabel).to.deep.equal({});
    expect((await purse.view()).spentByLabel).to.deep.equal({ overdue: '90' });
    expect((await team.reserve('500')).status).to.equal(201);
    await expectAgreement(world);
  });

  it('SETTLE is done for every call, even if it fell due after the sweep before it and windows have begun since', async () => {
    const world = await worldAt(start);
    const root = await Purse.create('100', world, { windowSeconds: 60 });
    const purse = await Purse.create('100', world, { parentBudgetId: root.id });
    await purse.reserve('70', settleAt(minutes(1) - 1));
    await purse.reserve('5', settleAt(minutes(1) + 1));
    await world.at(minutes(2));
    // The root's new window is free again: 95 fit. Below, only what was never reserved is left.
    const asked = { scopeId: purse.scopeId, holder: 'h', amountMinor: '100', settleBy: '', workKey: '', onOverdue: '' };
    await runAfterSweep(root, start, 'reserve', asked);
    expect(await root.balances()).to.equal('100 100 0 0');
    expect((await root.view()).settledTotal).to.equal('75');
    expect(await purse.balances()).to.equal('100 0 75 25');
    expect(await purse.counters('timers:ARMED')).to.deep.equal(['0']);
    const types = (await world.eventTypes()).slice(-5);
    const pair = ['budget.reservation_overdue', 'budget.settled'];
    expect(types).to.deep.equal([...pair, ...pair, 'budget.reserved']);
    await sweep(world);
    expect((await world.eventTypes()).filter((type) => type === 'budget.settled').length).to.equal(2);
    await expectAgreement(world);
  });

  it('SETTLE leaves nothing to a settle that a sweep has not seen coming', async () => {
    const purse = await Purse.create('100', await worldAt(start));
    const { id } = (await purse.reserve('70', settleAt(start + 1000))).body;
    await purse.world.at(start + 1000);
    const late = runAfterSweep(purse, start + 999, 'settle', {
      ...{ reservationId: id, amountMinor: '1', workKey: 'w', overrun: '', label: '' },
    });
    expect(await late.catch((error: Error) => error.message)).to.contain('RESERVATION_CLOSED');
    // The refusal wrote nothing: the sweep settles.
    await sweep(purse.world);
    expect(await purse.balances()).to.equal('100 0 70 30');
  });

  it('SETTLE comes before a call even if a thousand other timers fell due before it since the last sweep', async () => {
    const purse = await Purse.create('100', await worldAt(start));
    const { world } = purse;
    await purse.reserve('70', settleAt(start + 1000));
    const timers = Array.from({ length: 1000 }, (_, n) => [start + 1, `no:timer:${world.spaceNumber}:${n}`]);
    await world.service.store.zadd(`muster:{${world.org}}:timers`, ...timers.flat());
    await world.at(start + 2000);
    const asked = { scopeId: purse.scopeId, holder: 'h', amountMinor: '30', settleBy: '', workKey: '', onOverdue: '' };
    const call = runAfterSweep(purse, start, 'reserve', asked);
    expect(await call.catch((error: Error) => error.message), 'it has to wait for a sweep').to.match(/^DUE /);
    expect((await purse.reserve('30')).status).to.equal(201);
    expect((await world.eventTypes()).slice(-2)).to.deep.equal(['budget.settled', 'budget.reserved']);
    expect(await purse.balances()).to.equal('100 30 70 0');
  });

  it('SETTLE settles each of 200 reservations once, where settles, voids, cancels and limits meet its moment', async () => {
    const world = await worldAt(start);
    const root = await Purse.create('100000', world, { windowSeconds: 60 });
    const purse = await Purse.create('100000', world, { parentBudgetId: root.id });
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, n) => purse.reserve('100', settleAt(minutes(1) + (n % 3) - 1))),
    );
    const ids = made.map(({ body }) => body.id);
    await Promise.all(ids.slice(0, 100).map((id, n) => (n % 2 ? purse.settle(id, '40') : purse.void(id))));
    await world.at(minutes(1) + 2);
    const replies = await Promise.all([
      ...ids.map((id, n) => (n % 2 ? purse.settle(id, '10') : purse.void(id))),
      purse.limit('50000'),
      ...Array.from({ length: 20 }, () => root.reserve('1')),
      world.post(`/scopes/${purse.scopeId}/cancel`, {}),
    ]);
    expect(new Set(replies.slice(0, 200).map(codeOf))).to.deep.equal(new Set(['409 RESERVATION_CLOSED']));
    await sweep(world);
    const settled = 50 * 100 + 100 * 100;
    expect(await purse.balances()).to.equal(`50000 0 ${settled} ${50_000 - settled}`);
    expect((await root.view()).settledTotal).to.equal(String(settled));
    const late = (await journalOf(world)).filter(([, [type]]) => type === 'budget.reservation_overdue');
    expect(late.length).to.equal(150);
    await expectAgreement(world);
  });

  it('SETTLE is seen by the conditions of an atomic batch', async () => {
    const purse = await Purse.create('100', await worldAt(start));
    const { world } = purse;
    const view = { call: 'budget.view', budgetId: purse.id };
    const reserve = {
      call: 'budget.reserve',
      budgetId: purse.id,
      scopeId: purse.scopeId,
      holder: 'h',
      amountMinor: '10',
    };
    const both = async (expected: string): Promise<Reply> =>
      world.post('/batch', {
        atomic: true,
        calls: [
          { ...reserve, ...settleAt(minutes(1)), expect: { onOverdue: expected } },
          { ...view, expect: { balances: { reserved: '10' } } },
        ],
      });
    expect(codeOf(await both('KEEP'))).to.equal('409 EXPECTATION_FAILED');
    const done = await both('SETTLE');
    expect(done.status).to.equal(200);
    await world.at(minutes(1));
    const calls = [{ ...view, expect: { balances: { reserved: '0', settled: '10' } } }, reserve];
    expect((await world.post('/batch', { atomic: true, calls })).status).to.equal(200);
  });

  it('SETTLE counts in the settledTotal that an atomic batch expects, with and without windows', async () => {
    for (const fields of [{}, { windowSeconds: 60 }]) {
      const world = await worldAt(start);
      const purse = await Purse.create('100', world, fields);
      await purse.reserve('10', settleAt(minutes(1) - 1));
      await world.at(minutes(1));
      await purse.settle((await purse.reserve('5')).body.id, '5');
      const calls = [{ call: 'budget.view', budgetId: purse.id, expect: { settledTotal: '15' } }];
      expect((await world.post('/batch', { atomic: true, calls })).status).to.equal(200);
    }
  });

  it('SETTLE outlives nothing: 400 days after settleBy the reservation and its workKeys are gone', async () => {
    const purse = await Purse.create('100', await worldAt(start));
    const { world } = purse;
    await purse.reserve('10', { ...settleAt(start + 1000), workKey: 'r' });
    const { id } = (await purse.reserve('10', settleAt(start + 1000))).body;
    await purse.settle(id, '4', 'w');
    await world.at(start + 2000);
    await sweep(world);
    const days = 86_400_000;
    await world.at(start + 1000 + 400 * days - 1);
    await world.service.retention.retain(world.org);
    expect((await purse.view()).reservations.length).to.equal(2);
    await world.at(start + 1000 + 400 * days + 1000);
    await world.service.retention.retain(world.org);
    expect((await purse.view()).reservations).to.deep.equal([]);
    const left = await world.service.store.keys(`muster:{${world.org}}:*eservation*`);
    expect(left).to.deep.equal([]);
    expect(await purse.balances()).to.equal('100 0 20 80');
  });
});
