import { expect } from 'chai';
import { randomTail } from '../../../src/engine/route/args.ts';
import { apiKeyDigest } from '../../../src/engine/route/caller.ts';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Purse } from './purse.ts';

const start = Date.now();
const at = (ms: number) => ({ settleBy: new Date(start + ms).toISOString() });

async function purseAt(limits: Record<string, number> = {}): Promise<Purse> {
  const world = await World.create({ limits });
  await world.at(start);
  return Purse.create('1000', world);
}

const overdueEvents = async (purse: Purse): Promise<number> =>
  (await purse.world.eventTypes()).filter((type) => type === 'budget.reservation_overdue').length;

describe('settleBy', () => {
  it('must be in the future, else 400', async () => {
    const purse = await purseAt();
    for (const ms of [-1, 0]) {
      const reply = await purse.reserve('1', at(ms));
      expect(codeOf(reply)).to.equal('400 VALIDATION_FAILED');
      expect(reply.body.error.message).to.contain('settleBy');
    }
    expect((await purse.reserve('1', at(1))).body.settleBy).to.equal(at(1).settleBy);
  });

  it('marks an ACTIVE reservation overdue when it passes, emits that once, and changes nothing else', async () => {
    const purse = await purseAt();
    const { id } = (await purse.reserve('10', at(1000))).body;
    const inTime = (await purse.reserve('10', at(1000))).body.id;
    await purse.settle(inTime, '10');
    expect(await purse.world.service.store.zcard(`muster:{${purse.world.org}}:timers`)).to.equal(1);
    await purse.world.at(start + 999);
    expect((await purse.view()).reservations[0].overdue).to.equal(false);
    await purse.world.at(start + 1000);
    const shown = (await purse.view()).reservations.map((one: Reply['body']) => [one.id, one.overdue]);
    expect(shown).to.deep.equal([
      [id, true],
      [inTime, false],
    ]);
    await purse.reserve('1');
    await purse.reserve('1');
    expect(await overdueEvents(purse)).to.equal(1);
    const { events } = (await purse.world.get('/events')).body;
    const emitted = events.find(({ type }: { type: string }) => type === 'budget.reservation_overdue');
    expect(emitted.payload).to.deep.equal({
      budgetId: purse.id,
      scopeId: purse.scopeId,
      reservationId: id,
      state: 'ACTIVE',
    });
    const { reservation } = (await purse.settle(id, '4')).body;
    expect(reservation).to.include({ state: 'ACTIVE', overdue: true, remainingMinor: '6' });
    expect((await purse.void(id)).body.reservation).to.include({ state: 'VOIDED', overdue: true });
  });

  it('is reported once when it passes between the sweep and the settles that follow it', async () => {
    const purse = await purseAt();
    const { world } = purse;
    const [first, second] = [(await purse.reserve('10', at(1000))).body, (await purse.reserve('10', at(1000))).body];
    await purse.settle(second.id, '4', 'known');
    await world.at(start + 1000);
    const caller = { apiKeyDigest: apiKeyDigest(world.apiKey), permission: 'resource_config', spaceId: world.spaceId };
    const request = {
      rateClass: 'recovery',
      callName: 'budget.settle',
      idempotencyDigest: '',
      fingerprint: '',
      requestId: '',
      openedMessages: '',
    };
    const settle = (reservationId: string, amountMinor: string, workKey: string) => {
      const fields = {
        budgetId: purse.id,
        reservationId,
        amountMinor,
        workKey,
        overrun: '',
        label: '',
        tail: randomTail(),
      };
      const args = { ...caller, ...request, ...fields, sweptThrough: start + 999 };
      return world.service.scripts.execute('budget/settle', world.org, args);
    };
    // The last two share a run: the replay must not hide from the other that the reservation is overdue.
    await Promise.all([settle(first.id, '9', 'w'), settle(second.id, '4', 'known'), settle(second.id, '6', 'rest')]);
    expect((await world.eventTypes()).slice(-4)).to.deep.equal([
      'budget.reservation_overdue',
      'budget.settled',
      'budget.reservation_overdue',
      'budget.settled',
    ]);
    expect(await purse.counters('timers:ARMED')).to.deep.equal(['0']);
    // The sweep before this call finds any timer left behind.
    await purse.settle(first.id, '1');
    expect(await overdueEvents(purse)).to.equal(2);
    expect(await purse.counters('timers:ARMED')).to.deep.equal(['0']);
    const closed = (await purse.view('?state=SETTLED')).reservations;
    expect(closed.map(({ overdue }: { overdue: boolean }) => overdue)).to.deep.equal([true, true]);
  });

  it('a settleBy ahead counts as an armed timer while its reservation is ACTIVE; too many are TIMERS_FULL', async () => {
    const purse = await purseAt({ maxArmedTimers: 2 });
    const { id } = (await purse.reserve('10', at(1000))).body;
    await purse.reserve('10', at(2000));
    const refused = await purse.reserve('10', at(3000));
    expect(codeOf(refused)).to.equal('409 TIMERS_FULL');
    expect((await purse.reserve('10')).status).to.equal(201);
    expect(await purse.counters('timers:ARMED')).to.deep.equal(['2']);
    await purse.settle(id, '10');
    expect(await purse.counters('timers:ARMED'), 'settled in time').to.deep.equal(['1']);
    expect((await purse.reserve('10', at(1500))).status).to.equal(201);
    expect(codeOf(await purse.reserve('10', at(3000)))).to.equal('409 TIMERS_FULL');
    await purse.world.at(start + 1500);
    const next = await purse.reserve('10', at(3000));
    expect(next.status, 'one is overdue').to.equal(201);
    expect(codeOf(await purse.reserve('10', at(3000)))).to.equal('409 TIMERS_FULL');
    await purse.world.at(start + 2500);
    await purse.void(next.body.id);
    expect(await purse.counters('timers:ARMED'), 'the others are overdue').to.deep.equal(['0']);
    for (const { id } of (await purse.view('?state=ACTIVE')).reservations) await purse.void(id);
    expect(await purse.counters('timers:ARMED'), 'closing an overdue one changes nothing').to.deep.equal(['0']);
    await expectAgreement(purse.world);
  });
});
