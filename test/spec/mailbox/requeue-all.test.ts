import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { sendMany, wideQueue } from './many.ts';
import { Queue } from './queue.ts';
import { inState, row, stateOf, step } from './steps.ts';

describe('POST /mailboxes/{id}/requeue', () => {
  const purged = async (queue: Queue, count: number, fields: object = {}): Promise<string[]> => {
    const ids = await row(queue, count, fields);
    for (const id of ids) await queue.world.mustPost(`/messages/${id}/cancel`);
    return ids;
  };

  const done = (requeued: number, passedOver: Record<string, number> = {}) => ({
    requeued,
    nextCursor: null,
    passedOver,
  });

  it('requeues messages of one state, oldest createdAt first, in steps of max', async () => {
    const queue = await Queue.create();
    const rejected = await row(queue, 5);
    const claims = [];
    for (const _ of rejected) claims.push(await queue.claim());
    for (const claim of claims.reverse()) await queue.act('nack', claim, { retry: false });
    const [other = ''] = await purged(queue, 1);
    const first = await step(queue, 'requeue', { state: 'REJECTED', max: 2 });
    expect([first.status, first.body.requeued]).to.deep.equal([200, 2]);
    expect(await inState(queue, 'READY')).to.deep.equal(rejected.slice(0, 2));
    const second = await step(queue, 'requeue', { state: 'REJECTED', max: 3, cursor: first.body.nextCursor });
    expect(second.body).to.deep.equal(done(3));
    expect(await stateOf(queue, [...rejected, other])).to.deep.equal([...Array(5).fill('READY'), 'CANCELLED']);
    for (const id of rejected) expect((await queue.claim()).id, 'in their order').to.equal(id);
    expect((await queue.world.get('/usage')).body.days.at(-1).byCall['mailbox.requeue']).to.equal(2);
    expect((await queue.eventTypes()).filter((type) => type === 'message.requeued')).to.have.length(5);
    await expectAgreement(queue.world);
  });

  it('accepts each of the four states, and no other', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const queue = await Queue.create({}, world);
    await queue.sent({ deadline: new Date(now + 1000).toISOString() });
    await world.at(now + 1000);
    await purged(queue, 1);
    await queue.sent();
    await queue.act('nack', await queue.claim(), { retry: false });
    await queue.sent();
    for (let attempt = 0; attempt < 5; attempt++) await queue.act('nack', await queue.claim(), { retry: true });
    for (const state of ['FAILED', 'REJECTED', 'EXPIRED', 'CANCELLED']) {
      expect((await step(queue, 'requeue', { state })).body, state).to.deep.equal(done(1));
      expect((await step(queue, 'requeue', { state })).body, state).to.deep.equal(done(0));
    }
    expect(await queue.counts()).to.deep.equal({ ready: 4 });
    for (const body of [
      {},
      { state: 'ACKED' },
      { state: 'READY' },
      { state: 'FAILED,REJECTED' },
      { state: 'FAILED', delaySeconds: 1 },
    ])
      expect(codeOf(await step(queue, 'requeue', body))).to.equal('400 VALIDATION_FAILED');
    await expectAgreement(world);
  });

  it('skips those that may not be requeued, and those of other scopes', async () => {
    const queue = await Queue.create();
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, queue);
    const open = await Team.create({ condition: 'ALL_TERMINAL', parentScopeId: queue.scopeId }, queue);
    const gone = (await team.submit('gone')).body.messageId;
    const judged = (await open.submit('judged')).body;
    const member = (await open.submit('member')).body.messageId;
    for (const id of [gone, judged.messageId, member]) await queue.world.mustPost(`/messages/${id}/cancel`);
    await team.seal();
    await open.reject(judged.taskId);
    const [plain = ''] = await purged(queue, 1);
    const [other = ''] = await purged(queue, 1, { scopeId: randomUUID() });
    const gate = await step(queue, 'requeue', { state: 'CANCELLED', scopeId: open.gate });
    expect(gate.body).to.deep.equal(done(1, { VERDICT_CONFLICT: 1 }));
    const run = await step(queue, 'requeue', { state: 'CANCELLED', scopeId: queue.scopeId });
    expect(run.body).to.deep.equal(done(1, { GROUP_DECIDED: 1, VERDICT_CONFLICT: 1 }));
    expect(await stateOf(queue, [gone, judged.messageId, member, plain, other])).to.deep.equal([
      ...['CANCELLED', 'CANCELLED', 'READY', 'READY', 'CANCELLED'],
    ]);
    expect((await step(queue, 'requeue', { state: 'CANCELLED' })).body.requeued).to.equal(1);
    await expectAgreement(queue.world);
  });

  it('counts what a step passes over by the code that says why, in a replay too, and nothing that it has not reached', async () => {
    const queue = await Queue.create();
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, queue);
    const members = [];
    for (const key of ['a', 'b']) members.push((await team.submit(key)).body.messageId);
    const [first = ''] = await purged(queue, 1);
    const stopped = randomUUID();
    await purged(queue, 3, { scopeId: stopped });
    const [last = ''] = await purged(queue, 1);
    for (const id of members) await queue.world.mustPost(`/messages/${id}/cancel`);
    await team.seal();
    await queue.world.mustPost(`/scopes/${stopped}/cancel`);
    const key = { 'Idempotency-Key': 'counted' };
    const one = await step(queue, 'requeue', { state: 'CANCELLED', max: 1 }, key);
    expect(one.body).to.deep.include({ requeued: 1, passedOver: { GROUP_DECIDED: 2 } });
    expect((await step(queue, 'requeue', { state: 'CANCELLED', max: 1 }, key)).body).to.deep.equal(one.body);
    const two = await step(queue, 'requeue', { state: 'CANCELLED', cursor: one.body.nextCursor });
    expect(two.body).to.deep.equal(done(1, { SCOPE_CANCELLED: 3 }));
    expect((await step(queue, 'requeue', { state: 'CANCELLED' })).body).to.deep.equal(
      done(0, { GROUP_DECIDED: 2, SCOPE_CANCELLED: 3 }),
    );
    expect(await stateOf(queue, [first, last])).to.deep.equal(['READY', 'READY']);
    // As one alone is refused.
    expect(codeOf(await queue.world.post(`/messages/${members[0]}/requeue`))).to.equal('409 GROUP_DECIDED');
    await expectAgreement(queue.world);
  });

  it('stops early at a limit, which is a 409 only if nothing was requeued; the cursor continues there', async () => {
    const world = await World.create({ plan: 'enterprise', figures: { tasks: '6' } });
    const queue = await Queue.create({}, world);
    const ids = [...(await purged(queue, 4)), ...(await purged(queue, 4))];
    await world.call('PATCH', `/mailboxes/${queue.id}`, { backlogLimit: 5 });
    const first = await step(queue, 'requeue', { state: 'CANCELLED', max: 3 });
    const second = await step(queue, 'requeue', { state: 'CANCELLED', cursor: first.body.nextCursor });
    expect([first.body.requeued, second.body.requeued]).to.deep.equal([3, 2]);
    const { nextCursor: cursor } = second.body;
    expect(cursor).to.be.a('string');
    expect(codeOf(await step(queue, 'requeue', { state: 'CANCELLED', cursor }))).to.equal('409 BACKLOG_FULL');
    await world.call('PATCH', `/mailboxes/${queue.id}`, { backlogLimit: 100 });
    const third = await step(queue, 'requeue', { state: 'CANCELLED', cursor });
    expect(third.body.requeued).to.equal(1);
    expect(codeOf(await step(queue, 'requeue', { state: 'CANCELLED' }))).to.equal('409 ACTIVE_TASKS_LIMITED');
    await queue.act('complete', await queue.claim());
    await world.call('PUT', '/limits', { maxBacklog: 5 });
    expect(codeOf(await step(queue, 'requeue', { state: 'CANCELLED' }))).to.equal('409 BACKLOG_FULL');
    expect(await inState(queue, 'CANCELLED')).to.deep.equal(ids.slice(6));
    await expectAgreement(world);
  });

  it('respects the limit on armed timers for deadlines that lie ahead', async () => {
    const world = await World.create({ limits: { maxArmedTimers: 2 } });
    const now = Date.now();
    await world.at(now);
    const queue = await Queue.create({}, world);
    const deadline = new Date(now + 60_000).toISOString();
    for (let n = 0; n < 3; n++) await purged(queue, 1, { deadline });
    const first = await step(queue, 'requeue', { state: 'CANCELLED' });
    expect(first.body.requeued).to.equal(2);
    expect(codeOf(await step(queue, 'requeue', { state: 'CANCELLED' }))).to.equal('409 TIMERS_FULL');
    await expectAgreement(world);
    await world.at(now + 60_000);
    const rest = await step(queue, 'requeue', { state: 'CANCELLED' });
    expect(rest.body, 'their deadlines have passed').to.deep.equal(done(1));
    await expectAgreement(world);
  });

  it('examines 1,000 messages per step: a page may be empty while there are more', async () => {
    const queue = await wideQueue();
    await sendMany(queue, 1000, { scopeIds: [queue.id] });
    const id = await queue.sent();
    for (let left = true; left; ) left = (await step(queue, 'purge')).body.nextCursor !== null;
    const first = await step(queue, 'requeue', { state: 'CANCELLED', scopeId: queue.scopeId });
    expect(first.body.requeued).to.equal(0);
    const body = { state: 'CANCELLED', scopeId: queue.scopeId, cursor: first.body.nextCursor };
    expect((await step(queue, 'requeue', body)).body).to.deep.equal(done(1));
    expect(await stateOf(queue, [id])).to.deep.equal(['READY']);
  });

  it('counts an operation on the free plan only if there is something to do, and is replayed by its Idempotency-Key', async () => {
    const world = await World.create({ plan: 'free' });
    const queue = await Queue.create({}, world);
    const key = { 'Idempotency-Key': 'once' };
    await purged(queue, 2);
    const first = await step(queue, 'requeue', { state: 'CANCELLED', max: 1 }, key);
    expect((await step(queue, 'requeue', { state: 'CANCELLED', max: 1 }, key)).body).to.deep.equal(first.body);
    await world.service.store.hset(`muster:{${world.org}}`, 'usedOperations', '1000000000');
    expect(codeOf(await step(queue, 'requeue', { state: 'CANCELLED' }))).to.equal('402 OPERATIONS_EXHAUSTED');
    expect((await step(queue, 'requeue', { state: 'FAILED' })).status).to.equal(200);
  });
});
