import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { workOff } from '../../support/work-off.ts';
import { codeOf, World } from '../../support/world.ts';
import { sendMany } from '../mailbox/many.ts';
import { Queue } from '../mailbox/queue.ts';
import { Run } from './run.ts';

const write = (world: World, path: string, body?: unknown) => world.post(path, body).then(codeOf);

describe('POST /scopes/{id}/cancel', () => {
  it('ends everything live in the scope and below, and answers how much that was', async () => {
    const run = await Run.create();
    const { world } = run;
    const inner = await run.below();
    const elsewhere = run.another();
    const both = await run.sent(2);
    const [innermost] = await inner.sent(1);
    const [other] = await elsewhere.sent(1);
    expect((await run.recv()).status).to.equal(200);
    const barrier = await world.mustPost('/barriers', { scopeId: inner.scopeId, target: 2 });
    const allowance = await world.mustPost('/allowances', { name: 'calls', unitsLimit: 1, windowSeconds: 3600 });
    const units = { scopeId: inner.scopeId, units: 1, holder: 'h' };
    await world.mustPost(`/allowances/${allowance.id}/consume`, units);
    const waiter = await world.mustPost(`/allowances/${allowance.id}/wait`, units);
    const budget = await world.mustPost('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '100' });
    const reserve = { scopeId: inner.scopeId, holder: 'h', amountMinor: '5' };
    const reservation = await world.mustPost(`/budgets/${budget.id}/reserve`, reserve);
    const group = await world.mustPost('/task-groups', {
      ...{ parentScopeId: inner.scopeId, mailboxId: run.mailboxId, condition: 'ALL_TERMINAL' },
    });
    const member = await world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: 'a' });

    expect((await run.view()).live).to.deep.equal({ messages: 4, waiters: 1 });
    const { status, body } = await run.cancel();
    expect([status, body]).to.deep.equal([
      200,
      {
        ...{ scopeId: run.scopeId, state: 'CANCELLED', done: true, activeReservations: 1 },
        cancelled: { messages: 4, waiters: 1, holds: 0, questions: 0, barriers: 1, groups: 1 },
      },
    ]);
    for (const one of [run, inner]) expect((await one.view()).state).to.equal('CANCELLED');
    expect((await run.view()).live).to.deep.equal({ messages: 0, waiters: 0 });
    const ended = await run.messages();
    expect(ended.map(({ id }) => id)).to.have.members([...both, innermost, member.messageId]);
    for (const { state, reason } of ended) expect([state, reason]).to.deep.equal(['CANCELLED', 'RUN_CANCELLED']);
    expect((await world.get(`/barriers/${barrier.id}`)).body.state).to.equal('CANCELLED');
    expect((await world.get(`/allowance-waiters/${waiter.id}`)).body.state).to.equal('CANCELLED');
    const decided = (await world.get(`/task-groups/${group.id}`)).body;
    expect([decided.state, decided.outcome]).to.deep.equal(['DECIDED', 'CANCELLED']);
    expect(decided.members.map(({ state, reason }: Record<string, string>) => [state, reason])).to.deep.equal([
      ['CANCELLED', 'RUN_CANCELLED'],
    ]);
    const { reservations } = (await world.get(`/budgets/${budget.id}`)).body;
    expect(reservations.map(({ id, state }: Record<string, string>) => [id, state])).to.deep.equal([
      [reservation.id, 'ACTIVE'],
    ]);
    expect((await elsewhere.messages()).map(({ id, state }) => [id, state])).to.deep.equal([[other, 'READY']]);
    await expectAgreement(world);
  });

  it('refuses new work from then on with SCOPE_CANCELLED, in the scope and below it', async () => {
    const run = await Run.create();
    const { world } = run;
    const inner = await run.below();
    const outside = run.another();
    const [task] = await outside.sent(1);
    const gate = await world.mustPost('/barriers', { scopeId: inner.scopeId, target: 2 });
    const fields = { mailboxId: run.mailboxId, condition: 'ALL_TERMINAL' };
    const group = await world.mustPost('/task-groups', { ...fields, parentScopeId: inner.scopeId });
    const allowance = await world.mustPost('/allowances', { name: 'calls', unitsLimit: 9, windowSeconds: 3600 });
    const budget = await world.mustPost('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '100' });
    const reserve = { holder: 'h', amountMinor: '5' };
    const reserved = await world.mustPost(`/budgets/${budget.id}/reserve`, { ...reserve, scopeId: inner.scopeId });
    await run.cancel();
    for (const { scopeId } of [run, inner]) {
      const refused = [
        await write(world, `/mailboxes/${run.mailboxId}/messages`, { scopeId, payload: 1 }),
        await write(world, '/task-groups', { ...fields, parentScopeId: scopeId }),
        await write(world, '/barriers', { scopeId, target: 1 }),
        await write(world, '/scopes', { parentScopeId: scopeId }),
        await write(world, `/allowances/${allowance.id}/wait`, { scopeId, units: 1, holder: 'h' }),
        await write(world, `/allowances/${allowance.id}/consume`, { scopeId, units: 1, holder: 'h' }),
        await write(world, `/budgets/${budget.id}/reserve`, { ...reserve, scopeId }),
      ];
      expect(refused).to.deep.equal(Array(7).fill('409 SCOPE_CANCELLED'));
    }
    // It is checked before GROUP_NOT_OPEN.
    expect(await write(world, `/task-groups/${group.id}/tasks`, { taskKey: 'a' })).to.equal('409 SCOPE_CANCELLED');
    expect(await write(world, `/task-groups/${group.id}/join-task`, { taskId: task })).to.equal('409 SCOPE_CANCELLED');
    expect(await write(world, `/barriers/${gate.id}/nextEpoch`)).to.equal('409 SCOPE_CANCELLED');
    // The barrier exists already: nothing new begins.
    expect((await world.post('/scopes', { scopeId: inner.scopeId })).body.state).to.equal('CANCELLED');
    const entry = { reservationId: reserved.id, amountMinor: '2', workKey: 'w' };
    expect((await world.post(`/budgets/${budget.id}/settle`, entry)).status).to.equal(200);
    const rest = { reservationId: reserved.id, workKey: 'w' };
    expect((await world.post(`/budgets/${budget.id}/void`, rest)).status).to.equal(200);
    expect((await run.cancel()).body.activeReservations).to.equal(0);
    expect((await outside.recv()).status).to.equal(200);
    await expectAgreement(world);
  });

  it('lets a complete in another scope record its result, without publishing it into the cancelled one', async () => {
    const run = await Run.create();
    const inner = await run.below();
    const outside = run.another();
    await outside.sent(1);
    await run.cancel();
    const { id, token } = (await outside.recv()).body;
    const result = { payload: { answer: 42 }, mailboxId: run.mailboxId, scopeId: inner.scopeId, workKey: 'k' };
    const { status, body } = await run.world.post(`/messages/${id}/complete`, { token, result });
    expect([status, body.state, body.resultMessageId]).to.deep.equal([200, 'ACKED', null]);
    const again = await run.world.post(`/messages/${id}/complete`, { token, result });
    expect([again.body.resultMessageId, again.body.replay]).to.deep.equal([null, true]);
    const [done] = await outside.messages();
    expect(done.result).to.deep.equal({ answer: 42 });
    expect(await run.messages()).to.deep.equal([]);
  });

  it("emits scope.cancelled for the named scope, then each record's own event, with the request id of the cancel", async () => {
    const run = await Run.create();
    const inner = await run.below();
    await inner.sent(1);
    await run.world.mustPost('/barriers', { scopeId: run.scopeId, target: 2 });
    await run.cancel({ 'X-Request-Id': 'stop-1' });
    const { events } = (await run.world.get('/events?limit=500')).body;
    const emitted = events.filter(({ requestId }: { requestId: string }) => requestId === 'stop-1');
    expect(emitted[0]).to.deep.include({ type: 'scope.cancelled', aggregate: 'scope', aggregateId: run.scopeId });
    expect(emitted[0].payload).to.deep.equal({
      ...{ scopeId: run.scopeId, state: 'CANCELLED' },
      actor: await run.world.keyId(),
    });
    expect(emitted.map(({ type }: { type: string }) => type).sort()).to.deep.equal([
      ...['barrier.cancelled', 'message.cancelled', 'scope.cancelled'],
    ]);
  });

  it('answers the same totals again and changes nothing; a replay is the first answer', async () => {
    const run = await Run.create();
    await run.sent(2);
    const headers = { 'Idempotency-Key': 'stop' };
    const first = await run.cancel(headers);
    const events = (await run.world.eventTypes()).length;
    const operations = async () => (await run.world.get('/usage')).body.days.at(-1).operations;
    const before = await operations();
    expect((await run.cancel()).body).to.deep.equal(first.body);
    const replayed = await run.cancel(headers);
    expect(replayed.body).to.deep.equal(first.body);
    expect(replayed.headers.get('Idempotent-Replayed')).to.equal('true');
    expect((await run.world.eventTypes()).length).to.equal(events);
    expect(await operations()).to.equal(before);
  });

  it('answers 404 for an unused scope, counts as one operation, and still works when operations are used up', async () => {
    const world = await World.create({ plan: 'free' });
    expect(await write(world, `/scopes/${randomUUID()}/cancel`)).to.equal('404 SCOPE_NOT_FOUND');
    const { id } = await world.mustPost('/scopes', {});
    await world.service.store.hset(`muster:{${world.org}}`, 'operations', '1');
    expect(await write(world, '/scopes', {})).to.equal('402 OPERATIONS_EXHAUSTED');
    expect(await write(world, `/scopes/${id}/cancel`)).to.equal('200');
    const { byCall } = (await world.get('/usage')).body.days.at(-1);
    expect(byCall).to.deep.include({ 'scope.create': 1, 'scope.cancel': 1 });
  });

  it('has cancelled what none of its steps has reached: cancelling or purging that counts as part of it', async () => {
    const queue = await Queue.create();
    const { world, scopeId } = queue;
    await sendMany(queue, 610, { scopeIds: [scopeId] });
    expect((await world.mustPost(`/scopes/${scopeId}/cancel`)).done).to.equal(false);
    const before = (await world.get('/usage')).body.days.at(-1).operations;
    const { messages } = (await world.get(`/mailboxes/${queue.id}/messages?state=READY`)).body;
    const cancelled = await world.mustPost(`/messages/${messages[0].id}/cancel`);
    expect(cancelled).to.include({ state: 'CANCELLED', reason: 'RUN_CANCELLED' });
    const purged = await world.mustPost(`/mailboxes/${queue.id}/purge`, { max: 10 });
    expect(purged.cancelled).to.equal(0);
    expect((await world.get('/usage')).body.days.at(-1).operations).to.equal(before);
    await workOff(world);
    const again = await world.mustPost(`/scopes/${scopeId}/cancel`);
    expect([again.cancelled.messages, again.done]).to.deep.equal([610, true]);
    await expectAgreement(world);
  });

  it('ends nothing more below a cancelled scope, and counts only the rest for a scope above it', async () => {
    const run = await Run.create();
    const inner = await run.below();
    await run.sent(1);
    await inner.sent(2);
    expect((await inner.cancel()).body.cancelled.messages).to.equal(2);
    expect((await run.view()).state).to.equal('ACTIVE');
    expect((await run.cancel()).body.cancelled.messages).to.equal(1);
    expect((await inner.cancel()).body).to.deep.include({ done: true, state: 'CANCELLED' });
    expect((await inner.cancel()).body.cancelled.messages).to.equal(2);
    const deepest = await Run.create();
    const child = await deepest.below();
    await child.sent(1);
    await deepest.cancel();
    expect((await child.cancel()).body.cancelled.messages).to.equal(0);
    expect((await deepest.world.eventTypes()).filter((type) => type === 'scope.cancelled')).to.have.length(1);
  });
});
