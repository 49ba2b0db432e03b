import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { Team } from './team.ts';

const requeue = ({ queue }: Team, messageId: string): Promise<Reply> =>
  queue.world.post(`/messages/${messageId}/requeue`);

describe('a group member whose message is requeued', () => {
  it('becomes PENDING again in its undecided group, whichever way it ended, and can decide it', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, await Queue.create({}, world));
    const { queue } = team;
    const members: string[] = [];
    for (const taskKey of ['failed', 'rejected', 'cancelled', 'expired', 'open'])
      members.push(
        (await team.submit(taskKey, taskKey === 'expired' ? { deadline: new Date(now + 1000).toISOString() } : {})).body
          .messageId,
      );
    await queue.act('nack', await queue.claim(), { retry: true });
    await queue.act('nack', await queue.claim(), { retry: false });
    await world.mustPost(`/messages/${members[2]}/cancel`);
    await world.at(now + 1000);
    for (let attempt = 0; attempt < 5; ) {
      const claim = await queue.claim();
      if (claim.taskKey === 'failed') {
        attempt = claim.attempt;
        await queue.act('nack', claim, { retry: true });
      } else await queue.act('complete', claim);
    }
    expect(await team.states()).to.deep.equal(['FAILED', 'FAILED', 'CANCELLED', 'EXPIRED', 'SUCCEEDED']);
    for (const id of members.slice(0, 4)) {
      const reply = await requeue(team, id);
      expect(reply.status, reply.text).to.equal(200);
    }
    await expectAgreement(world);
    const view = await team.view();
    expect(view.counts).to.include({ members: 5, pending: 4, succeeded: 1, failed: 0, expired: 0, cancelled: 0 });
    for (const member of view.members.slice(0, 4))
      expect(member).to.include({ state: 'PENDING', reason: null, attempts: 0, outcome: null, deadline: null });
    expect(await team.eventCount('task.requeued')).to.equal(4);
    const { events } = (await world.get('/watch?types=task.requeued')).body;
    const { taskId, messageId } = view.members[0];
    expect(events[0].payload).to.deep.equal({
      ...{ taskId, scopeId: team.gate, groupId: team.id, messageId, state: 'PENDING', attempts: 0 },
    });
    await team.seal();
    expect((await team.view()).state).to.equal('SEALED');
    for (let i = 0; i < 4; i++) await queue.act('complete', await queue.claim());
    const decided = await team.view();
    expect([decided.state, decided.outcome]).to.deep.equal(['DECIDED', 'SATISFIED']);
    expect(decided.counts).to.include({ pending: 0, running: 0, succeeded: 5 });
    await expectAgreement(world);
  });

  it('a member of a decided group is refused with GROUP_DECIDED, a judged one with VERDICT_CONFLICT', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const deadline = new Date(now + 60_000).toISOString();
    const team = await Team.create({ condition: 'N_ACCEPTED', threshold: 2, deadline }, await Queue.create({}, world));
    const { queue } = team;
    const [one, two] = [(await team.submit('one')).body, (await team.submit('two')).body];
    for (const { messageId } of [one, two]) await world.mustPost(`/messages/${messageId}/cancel`);
    await team.reject(one.taskId);
    const judged = await requeue(team, one.messageId);
    expect(codeOf(judged)).to.equal('409 VERDICT_CONFLICT');
    expect(judged.body.error.message).to.include('REJECTED');
    const { messageId: open } = (await team.submit('open')).body;
    expect(codeOf(await requeue(team, open))).to.equal('409 MESSAGE_NOT_REQUEUABLE');
    expect((await requeue(team, two.messageId)).status).to.equal(200);
    await world.mustPost(`/messages/${two.messageId}/cancel`);
    await world.at(now + 60_000);
    for (const { messageId } of [one, two]) {
      const reply = await requeue(team, messageId);
      expect(codeOf(reply)).to.equal('409 GROUP_DECIDED');
      expect(reply.body.error.message).to.include('EXPIRED').and.include('member');
    }
    await expectAgreement(queue.world);
  });

  it('is treated the same if it joined from outside', async () => {
    const team = await Team.create({ condition: 'ALL_TERMINAL' });
    const { queue } = team;
    const other = await Queue.create({}, queue.world);
    const id = await other.sent();
    await team.join(id);
    await other.act('nack', await other.claim(), { retry: false });
    expect((await team.view()).counts).to.include({ failed: 1, pending: 0 });
    expect((await requeue(team, id)).status).to.equal(200);
    expect((await team.view()).counts).to.include({ failed: 0, pending: 1 });
    await team.seal();
    await other.act('complete', await other.claim());
    expect((await team.view()).outcome).to.equal('SATISFIED');
    expect(codeOf(await requeue(team, id))).to.equal('409 MESSAGE_NOT_REQUEUABLE');
    await expectAgreement(queue.world);
  });
});
