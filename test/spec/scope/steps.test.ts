import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { background, dueKey } from '../../../src/engine/redis/due.ts';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { sendMany } from '../mailbox/many.ts';
import { Queue } from '../mailbox/queue.ts';
import { filled, many, Run } from './run.ts';

describe('A cancel that takes more than one step', () => {
  it('a cancel answers after at most 500 records; workers end the rest, and a repeat answers the totals', async () => {
    const { run } = await filled();
    await run.sent(2);
    const first = (await run.cancel({ 'X-Request-Id': 'stop-1' })).body;
    expect(first.done).to.equal(false);
    expect(first.cancelled.messages).to.be.within(1, 500);
    expect((await run.view()).live.messages).to.equal(many + 2 - first.cancelled.messages);
    await expectAgreement(run.world);
    const second = (await run.cancel()).body;
    expect(second).to.deep.include({
      done: true,
      cancelled: { messages: many + 2, waiters: 0, holds: 0, questions: 0, barriers: 0, groups: 0 },
    });
    const { service, prefix } = run.world;
    expect(await service.store.hget(`${prefix}:scope:${run.scopeId}`, 'cancelWalk'), 'steps to come').to.equal(null);
    await run.worked();
    await expectAgreement(run.world);
    const requestIds: string[] = [];
    for (let cursor = ''; requestIds.length < many + 2; ) {
      const { events, nextCursor } = (await run.world.get(`/watch?limit=500&types=message.cancelled${cursor}`)).body;
      requestIds.push(...events.map(({ requestId }: { requestId: string }) => requestId));
      cursor = `&cursor=${nextCursor}`;
    }
    expect(requestIds).to.deep.equal(Array(many + 2).fill('stop-1'));
  });

  it('looks at no more than 1,000 records that are over before it answers', async () => {
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    const start = Date.now();
    await world.at(start);
    const queue = await Queue.create({ backlogLimit: 10_000 }, world);
    await queue.sent();
    // Newer ones, which it looks at first.
    await sendMany(queue, 1_100, { deadline: String(start + 1000) });
    await world.at(start + 1000);
    await world.service.due.drain(world.org);
    const cancel = async () => (await world.post(`/scopes/${queue.scopeId}/cancel`)).body;
    expect(await cancel())
      .to.deep.include({ done: false })
      .and.to.nested.include({ 'cancelled.messages': 0 });
    expect(await cancel())
      .to.deep.include({ done: true })
      .and.to.nested.include({ 'cancelled.messages': 1 });
    await expectAgreement(world);
  });

  it('stops deliveries from the first step on: recv finds nothing, tokens are CLAIM_LOST', async () => {
    const { run, inner } = await filled();
    await run.sent(2);
    // Newer messages are ended first.
    const claim = (await inner.recv()).body;
    const ownClaim = (await run.recv()).body;
    await run.cancel();
    expect([(await run.recv()).status, (await inner.recv()).status]).to.deep.equal([204, 204]);
    expect((await run.view()).live.messages).to.be.above(0);
    for (const { id, token } of [claim, ownClaim]) {
      const lost = [
        await run.world.post(`/messages/${id}/renew`, { token }),
        await run.world.post(`/messages/${id}/nack`, { token, retry: true }),
        await run.world.post(`/messages/${id}/complete`, { token }),
      ];
      expect(lost.map(codeOf)).to.deep.equal(Array(3).fill('409 CLAIM_LOST'));
    }
  });

  it('makes every message CANCELLED; none becomes ready again or expires before its turn', async () => {
    const start = Date.now();
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    await world.at(start);
    const { run } = await filled(world);
    await run.sent(1, { deadline: new Date(start + 60_000).toISOString() });
    await run.sent(1);
    expect((await run.recv({ leaseSeconds: 5 })).status).to.equal(200);
    const before = (await run.cancel()).body.cancelled.messages;
    await world.at(start + 120_000);
    await world.service.due.drain(world.org);
    const states = (await run.world.get(`/mailboxes/${run.mailboxId}/messages?state=EXPIRED`)).body.messages;
    expect(states).to.deep.equal([]);
    expect(before).to.be.below(many + 2);
    await run.worked();
    expect((await run.cancel()).body.cancelled.messages).to.equal(many + 2);
    expect((await world.eventTypes()).includes('message.lease_expired')).to.equal(false);
    await expectAgreement(world);
  });

  it('releases no barrier, satisfies no group and grants no waiter that it has not reached yet', async () => {
    const start = Date.now();
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    await world.at(start);
    const { run } = await filled(world);
    const outside = run.another();
    const [one, two] = [
      await world.mustPost('/barriers', { scopeId: run.scopeId, target: 1 }),
      await world.mustPost('/barriers', { scopeId: run.scopeId, target: 1 }),
    ];
    const allowance = await world.mustPost('/allowances', { name: 'calls', unitsLimit: 1, windowSeconds: 60 });
    const units = (scopeId: string) => ({ scopeId, units: 1, holder: 'h', ttlSeconds: 3600 });
    const wait = (scopeId: string) => world.mustPost(`/allowances/${allowance.id}/wait`, units(scopeId));
    await wait(outside.scopeId);
    const waiters = [await wait(run.scopeId), await wait(run.scopeId), await wait(outside.scopeId)];
    const fields = { parentScopeId: run.scopeId, mailboxId: run.mailboxId };
    const groups = [
      await world.mustPost('/task-groups', { ...fields, condition: 'ALL_TERMINAL' }),
      await world.mustPost('/task-groups', { ...fields, condition: 'FIRST_ACCEPTED' }),
    ];
    const outer = outside.another();
    const [joined] = await outer.sent(1);
    for (const { id } of groups) await world.mustPost(`/task-groups/${id}/tasks`, { taskKey: 'a' });
    await world.mustPost(`/task-groups/${groups[1].id}/join-task`, { taskId: joined });
    // Gate scopes come before their parent, so the cancel would end them first: more messages occupy its first step.
    const { body } = await run.cancel();
    expect(body.done).to.equal(false);
    const [early, late] = [await world.post(`/barriers/${one.id}/arrive`, { arrivalKey: 'a' }), two];
    expect(codeOf(early)).to.equal('409 BARRIER_CANCELLED');
    expect((await world.post(`/barriers/${late.id}/cancel`)).body.state).to.equal('CANCELLED');
    expect(codeOf(await world.post(`/task-groups/${groups[0].id}/seal`))).to.equal('409 GROUP_DECIDED');
    expect((await world.post(`/allowance-waiters/${waiters[1].id}/cancel`)).body.state).to.equal('CANCELLED');
    await world.at(start + 61_000);
    await world.service.due.drain(world.org);
    const states = [];
    for (const { id } of waiters) states.push((await world.get(`/allowance-waiters/${id}`)).body.state);
    expect(states).to.deep.equal(['CANCELLED', 'CANCELLED', 'GRANTED']);
    await run.worked();
    const done = (await run.cancel()).body;
    expect(done.cancelled).to.deep.equal({
      messages: many + 2,
      waiters: 2,
      holds: 0,
      questions: 0,
      barriers: 2,
      groups: 2,
    });
    const [outsider] = await outer.messages();
    expect([outsider.state, outsider.reason]).to.deep.equal(['CANCELLED', 'GROUP_DECIDED']);
    for (const { id } of groups) {
      const { state, outcome } = (await world.get(`/task-groups/${id}`)).body;
      expect([state, outcome]).to.deep.equal(['DECIDED', 'CANCELLED']);
    }
    await expectAgreement(world);
  });

  it('keeps counters right after each step, and resumes from any step if the index lost the organization', async () => {
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    const { run } = await filled(world);
    await run.sent(2);
    await run.recv();
    const gate = { parentScopeId: run.scopeId, mailboxId: run.mailboxId, condition: 'ALL_TERMINAL' };
    const { id: groupId } = await world.mustPost('/task-groups', gate);
    await world.mustPost(`/task-groups/${groupId}/tasks`, { taskKey: 'a' });
    await world.mustPost('/barriers', { scopeId: run.scopeId, target: 2 });
    await run.cancel();
    const { service, org } = world;
    const args = { requestId: '', spaceId: '', maxChanges: 3, name: '' };
    let steps = 0;
    for (let more = true; more; steps++) {
      more = (await service.scripts.ask(background, org, args)).more;
      await expectAgreement(world);
      // A process that dies here has not announced the rest.
      await service.store.del(dueKey);
      if (steps === 3) break;
    }
    expect(steps).to.equal(3);
    await service.due.repair();
    const { body } = await run.cancel();
    expect(body).to.deep.include({ done: true });
    expect(body.cancelled).to.deep.equal({
      messages: many + 3,
      waiters: 0,
      holds: 0,
      questions: 0,
      barriers: 1,
      groups: 1,
    });
    await expectAgreement(world);
  });

  it('reaches every scope below, including those that hold nothing', async () => {
    const run = await Run.create();
    const world = run.world;
    const scopes = [run];
    for (let depth = 0; depth < 7; depth++) scopes.push(await (scopes.at(-1) as Run).below());
    for (const scope of scopes.slice(0, 3)) for (let i = 0; i < 3; i++) await scope.below();
    await scopes.at(-1)?.sent(1);
    await run.cancel();
    await run.worked();
    expect((await world.get('/census')).body.scopes).to.deep.equal({ ACTIVE: 0, IDLE: 0, CANCELLED: 17 });
    expect((await world.get('/scopes?state=CANCELLED&limit=200')).body.scopes).to.have.length(17);
    expect(codeOf(await world.post('/scopes', { parentScopeId: randomUUID() }))).to.equal('201');
  });
});
