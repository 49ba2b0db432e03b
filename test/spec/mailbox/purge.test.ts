import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { Queue } from './queue.ts';
import { all, inState, row, stateOf, step } from './steps.ts';

describe('POST /mailboxes/{id}/purge', () => {
  it('a purge cancels READY messages, oldest first, in steps of max; claimed and finished ones stay', async () => {
    const queue = await Queue.create();
    const [claimed = '', done = '', ...ids] = await row(queue, 7);
    await queue.claim();
    await queue.act('complete', await queue.claim());
    const first = await step(queue, 'purge', { max: 2 });
    expect(first.status).to.equal(200);
    expect(first.body).to.deep.equal({ cancelled: 2, nextCursor: first.body.nextCursor });
    expect(await inState(queue, 'CANCELLED')).to.deep.equal(ids.slice(0, 2));
    const second = await step(queue, 'purge', { max: 2, cursor: first.body.nextCursor });
    const third = await step(queue, 'purge', { max: 2, cursor: second.body.nextCursor });
    expect([second.body.cancelled, third.body]).to.deep.equal([2, { cancelled: 1, nextCursor: null }]);
    expect(await stateOf(queue, [claimed, done])).to.deep.equal(['CLAIMED', 'ACKED']);
    const message = await queue.message(ids[4] ?? '');
    expect(message).to.include({ state: 'CANCELLED', reason: 'CANCELLED_BY_CALLER' });
    expect(await queue.counts()).to.deep.equal({ claimed: 1, acked: 1 });
    const none = await step(queue, 'purge', { max: null, cursor: null });
    expect(none.body).to.deep.equal({ cancelled: 0, nextCursor: null });
    expect((await queue.eventTypes()).filter((type) => type === 'message.cancelled')).to.have.length(5);
    expect((await queue.world.get('/usage')).body.days.at(-1).byCall['mailbox.purge']).to.equal(3);
    await expectAgreement(queue.world);
  });

  it("goes through all runs by age, or through one scope's subtree", async () => {
    const queue = await Queue.create();
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, queue);
    const scopes = [randomUUID(), randomUUID(), randomUUID()];
    const ids: string[] = [];
    for (let n = 0; n < 9; n++) ids.push(await queue.sent({ scopeId: scopes[n % 3] }));
    const { messageId } = (await team.submit('below')).body;
    const direct = await queue.sent();
    expect((await step(queue, 'purge', { max: 4 })).body.cancelled).to.equal(4);
    expect(await inState(queue, 'CANCELLED')).to.deep.equal(ids.slice(0, 4));
    const below = await step(queue, 'purge', { scopeId: queue.scopeId });
    expect(below.body).to.deep.equal({ cancelled: 2, nextCursor: null });
    expect(await stateOf(queue, [messageId, direct])).to.deep.equal(['CANCELLED', 'CANCELLED']);
    expect(await inState(queue, 'READY')).to.deep.equal(ids.slice(4));
    expect((await step(queue, 'purge', { scopeId: randomUUID() })).body.cancelled).to.equal(0);
    await expectAgreement(queue.world);
  });

  it('a purge decides groups of cancelled members, whose cancels count towards its step', async () => {
    const queue = await Queue.create();
    const teams = await all(6, () =>
      Team.create({ condition: 'N_ACCEPTED', threshold: 100, parentScopeId: queue.scopeId }, queue),
    );
    // In turn, so that one step meets all of them.
    for (let n = 0; n < 100; n++) await Promise.all(teams.map((team) => team.fill([`${n}`])));
    await Promise.all(teams.map((team) => team.seal()));
    let cursor: string | null = null;
    let cancelled = 0;
    let steps = 0;
    do {
      const { body }: Reply = await step(queue, 'purge', { cursor });
      cancelled += body.cancelled;
      cursor = body.nextCursor;
      steps++;
      const gone = (await queue.eventTypes()).filter((type) => type === 'message.cancelled').length;
      expect(gone, 'cancelled in a step, decisions included').to.be.at.most(500 * steps);
    } while (cursor !== null);
    expect(cancelled, 'one of each group, the decision did the rest').to.equal(6);
    expect(steps).to.equal(2);
    for (const team of teams) {
      const { outcome, members } = await team.view();
      const reasons = members.map((member: { reason: string }) => member.reason);
      expect([outcome, reasons.filter((one: string) => one === 'GROUP_DECIDED').length]).to.deep.equal([
        ...['UNSATISFIABLE', 99],
      ]);
    }
    expect((await queue.record()).counts.ready).to.equal(0);
  });

  it('accepts only its own cursors, is replayed by its Idempotency-Key, and is refused when operations are used up', async () => {
    const world = await World.create({ plan: 'free' });
    const queue = await Queue.create({}, world);
    await row(queue, 4);
    const key = { 'Idempotency-Key': 'once' };
    const first = await step(queue, 'purge', { max: 1 }, key);
    expect((await step(queue, 'purge', { max: 1 }, key)).body).to.deep.equal(first.body);
    const { nextCursor: cursor } = first.body;
    for (const body of [{ cursor: 'x' }, { cursor: '' }, { cursor, scopeId: queue.scopeId }])
      expect(codeOf(await step(queue, 'purge', body)), JSON.stringify(body)).to.match(
        /^400 (INVALID_CURSOR|VALIDATION_FAILED)$/,
      );
    expect(codeOf(await step(queue, 'requeue', { state: 'FAILED', cursor }))).to.equal('400 INVALID_CURSOR');
    expect(codeOf(await step(await Queue.create({}, world), 'purge', { cursor }))).to.equal('400 INVALID_CURSOR');
    expect((await step(queue, 'purge', { cursor, max: 2 })).body.cancelled, 'max may change').to.equal(2);
    await world.service.store.hset(`muster:{${world.org}}`, 'usedOperations', '1000000000');
    expect(codeOf(await step(queue, 'purge'))).to.equal('402 OPERATIONS_EXHAUSTED');
  });
});
