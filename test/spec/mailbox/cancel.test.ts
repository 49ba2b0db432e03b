import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { Queue } from './queue.ts';

const cancel = (queue: Queue, id: string): Promise<Reply> => queue.world.post(`/messages/${id}/cancel`);

describe('POST /messages/{id}/cancel', () => {
  it('cancels a READY message: answers the record, no receive gets it, one event, and it leaves the counts', async () => {
    const queue = await Queue.create();
    const id = await queue.sent({ deadline: new Date(Date.now() + 60_000).toISOString() });
    const reply = await cancel(queue, id);
    expect(reply.status).to.equal(200);
    expect(reply.body).to.include({ id, state: 'CANCELLED', reason: 'CANCELLED_BY_CALLER', attempts: 0 });
    expect(reply.body.finishedAt).to.match(/Z$/);
    expect(reply.body).to.deep.equal(await queue.message(id));
    expect((await queue.recv()).status).to.equal(204);
    expect(await queue.eventTypes()).to.deep.equal(['message.sent', 'message.cancelled']);
    expect(await queue.counts()).to.deep.equal({});
    await expectAgreement(queue.world);
  });

  it('cancels a CLAIMED one: its token is CLAIM_LOST from then on, and its last claim stays readable', async () => {
    const queue = await Queue.create();
    await queue.sent();
    const claim = await queue.claim();
    const { body } = await cancel(queue, claim.id);
    expect(body).to.include({ state: 'CANCELLED', reason: 'CANCELLED_BY_CALLER', attempts: 1, holder: 'worker' });
    expect(body.leaseExpiresAt).to.equal(null);
    expect((await cancel(queue, claim.id)).body, 'again').to.deep.equal(body);
    expect((await queue.world.get(`/messages/${claim.id}`)).body, 'as a view has it').to.deep.equal(body);
    for (const what of ['renew', 'complete', 'nack'] as const)
      expect(codeOf(await queue.act(what, claim, what === 'nack' ? { retry: true } : {}))).to.equal('409 CLAIM_LOST');
    await expectAgreement(queue.world);
  });

  it('answers 200 with the record when repeated, whatever the reason, and counts no event and no operation', async () => {
    const queue = await Queue.create();
    const id = await queue.sent();
    const first = await cancel(queue, id);
    expect((await cancel(queue, id)).body).to.deep.equal(first.body);
    const team = await Team.create({}, queue);
    const [done] = await team.succeeded(1);
    const { messageId } = (await team.submit('late')).body;
    await team.accept(String(done));
    const other = await cancel(queue, messageId);
    expect([other.status, other.body.state, other.body.reason]).to.deep.equal([200, 'CANCELLED', 'GROUP_DECIDED']);
    const { byCall } = (await queue.world.get('/usage')).body.days.at(-1);
    expect(byCall['message.cancel']).to.equal(1);
    expect((await queue.eventTypes()).filter((type) => type === 'message.cancelled')).to.have.length(2);
  });

  it('refuses every other finished state with MESSAGE_FINISHED, which names the state', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const queue = await Queue.create({}, world);
    await queue.sent();
    const acked = await queue.claim();
    await queue.act('complete', acked);
    await queue.sent();
    const rejected = await queue.claim();
    await queue.act('nack', rejected, { retry: false });
    const failed = await queue.sent();
    for (let attempt = 0; attempt < 5; attempt++) await queue.act('nack', await queue.claim(), { retry: true });
    const expired = await queue.sent({ deadline: new Date(now + 1000).toISOString() });
    // A message past its deadline has expired, swept or not.
    await world.at(now + 1000);
    const ends = { ACKED: acked.id, REJECTED: rejected.id, FAILED: failed, EXPIRED: expired };
    for (const [state, id] of Object.entries(ends)) {
      const reply = await cancel(queue, id);
      expect(codeOf(reply), state).to.equal('409 MESSAGE_FINISHED');
      expect(reply.body.error.message).to.include(state);
    }
  });

  it('treats a claim whose lease has ended as lapsed, swept or not', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const queue = await Queue.create({}, world);
    await queue.sent();
    const claim = await queue.claim({ leaseSeconds: 5 });
    await world.at(now + 5000);
    expect((await cancel(queue, claim.id)).body).to.include({ state: 'CANCELLED', holder: null });
    expect(await queue.eventTypes()).to.deep.equal([
      ...['message.sent', 'message.claimed', 'message.lease_expired', 'message.retried', 'message.cancelled'],
    ]);
    await expectAgreement(world);
  });

  it('cancels a group member, which may decide the group', async () => {
    const team = await Team.create({ condition: 'N_ACCEPTED', threshold: 2 });
    const { queue } = team;
    const [, second] = await team.submitted(3);
    await team.seal();
    const [first] = (await team.view()).members;
    await cancel(queue, first.messageId);
    expect(await team.states()).to.deep.equal(['CANCELLED', 'PENDING', 'PENDING']);
    expect((await team.view()).members[0].reason).to.equal('CANCELLED_BY_CALLER');
    const claim = await queue.claim({ scopeId: team.gate });
    expect(claim.taskId).to.equal(second);
    await cancel(queue, claim.id);
    const { outcome, members, counts } = await team.view();
    expect(outcome).to.equal('UNSATISFIABLE');
    expect(members.map((member: { reason: string }) => member.reason)).to.deep.equal([
      ...['CANCELLED_BY_CALLER', 'CANCELLED_BY_CALLER', 'GROUP_DECIDED'],
    ]);
    expect(counts).to.include({ pending: 0, running: 0, cancelled: 3 });
    expect(await team.eventCount('task.cancelled')).to.equal(3);
    await expectAgreement(queue.world);
  });

  it("still works when the month's operations are used up", async () => {
    const world = await World.create({ plan: 'free' });
    const queue = await Queue.create({}, world);
    const id = await queue.sent();
    await world.service.store.hset(`muster:{${world.org}}`, 'usedOperations', '1000000000');
    expect(codeOf(await queue.send())).to.equal('402 OPERATIONS_EXHAUSTED');
    expect((await cancel(queue, id)).status).to.equal(200);
  });
});
