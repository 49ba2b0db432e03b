import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { Team } from './team.ts';

describe('the decision of a task group', () => {
  it('FIRST_ACCEPTED: the first accept satisfies it, sealed or not, and cancels pending members in the same step', async () => {
    const team = await Team.create();
    const [taskId = ''] = await team.submitted(4);
    const [first, held] = [await team.queue.claim(), await team.queue.claim()];
    await team.queue.act('complete', first);
    const { status, body } = await team.accept(taskId);
    const answer = { taskId, verdict: 'ACCEPTED', groupId: team.id, groupState: 'DECIDED', outcome: 'SATISFIED' };
    expect([status, body]).to.deep.equal([200, answer]);
    expect(await team.states()).to.deep.equal(['SUCCEEDED', 'RUNNING', 'CANCELLED', 'CANCELLED']);
    expect((await team.view()).members[2].reason).to.equal('GROUP_DECIDED');
    expect((await team.queue.recv()).status).to.equal(204);
    expect((await team.queue.record()).counts).to.deep.equal({
      ready: 0,
      delayed: 0,
      blocked: 0,
      claimed: 1,
      failed: 0,
      acked: 1,
    });
    expect((await team.queue.act('renew', held)).body.groupState).to.equal('DECIDED');
    const { service, org, spaceNumber } = team.queue.world;
    const finished = () => service.store.zscore(`muster:{${org}}:finished`, `group:group:${spaceNumber}:${team.id}`);
    expect(await finished(), 'not finished while somebody works for it').to.equal(null);
    expect((await team.queue.act('complete', held)).body).to.include({ taskState: 'SUCCEEDED', groupState: 'DECIDED' });
    expect(await finished()).to.not.equal(null);
    expect((await team.queue.world.eventTypes()).slice(-8)).to.deep.equal([
      ...['task.accepted', 'group.decided'],
      ...['message.cancelled', 'task.cancelled', 'message.cancelled', 'task.cancelled'],
      ...['message.acked', 'task.succeeded'],
    ]);
  });

  it('makes a claimed member CANCELLED instead of READY when it is later nacked with retry or its lease ends', async () => {
    const team = await Team.create();
    const world = team.queue.world;
    const now = Date.now();
    await world.at(now);
    const [taskId = ''] = await team.submitted(5);
    const claims = [];
    for (let i = 0; i < 5; i++) claims.push(await team.queue.claim({ leaseSeconds: 5 }));
    await team.queue.act('complete', claims[0]);
    await team.accept(taskId);
    const nacked = await team.queue.act('nack', claims[1], { retry: true });
    expect(nacked.body).to.include({ state: 'CANCELLED', attempts: 1 });
    const untried = await team.queue.act('nack', claims[4], { retry: true, countsAttempt: false });
    expect(untried.body).to.include({ state: 'CANCELLED', attempts: 0 });
    expect((await team.queue.act('nack', claims[2], { retry: false })).body.state).to.equal('REJECTED');
    await world.at(now + 5000);
    expect((await team.queue.recv()).status).to.equal(204);
    expect(await team.states()).to.deep.equal(['SUCCEEDED', 'CANCELLED', 'FAILED', 'CANCELLED', 'CANCELLED']);
    expect((await world.eventTypes()).slice(-3)).to.deep.equal([
      'message.lease_expired',
      'message.cancelled',
      'task.cancelled',
    ]);
    expect(await team.eventCount('group.decided')).to.equal(1);
  });

  it('N_ACCEPTED: is unsatisfiable once sealed, when the threshold is out of reach', async () => {
    const team = await Team.create({ condition: 'N_ACCEPTED', threshold: 2 });
    const [one = '', two = '', three = ''] = await team
      .succeeded(2)
      .then(async (ids) => [...ids, (await team.submit('x')).body.taskId]);
    await team.reject(one);
    expect((await team.seal()).body).to.deep.equal({ groupId: team.id, state: 'SEALED', outcome: null });
    expect((await team.reject(two)).body).to.include({ groupState: 'DECIDED', outcome: 'UNSATISFIABLE' });
    expect(await team.states()).to.deep.equal(['SUCCEEDED', 'SUCCEEDED', 'CANCELLED']);
    expect((await team.reject(three)).body, 'allowed, without effect').to.include({ outcome: 'UNSATISFIABLE' });
    const late = await Team.create({ condition: 'N_ACCEPTED', threshold: 2 }, team.queue);
    await late.submitted(2);
    await late.seal();
    const refused = await team.queue.act('nack', await team.queue.claim(), { retry: false });
    expect(refused.body.state).to.equal('REJECTED');
    expect(await late.view()).to.include({ state: 'DECIDED', outcome: 'UNSATISFIABLE' });
    expect(await late.states()).to.deep.equal(['FAILED', 'CANCELLED']);
    const half = await Team.create({ condition: 'N_ACCEPTED', threshold: 2 }, team.queue);
    const [first = ''] = await half.succeeded(1);
    await half.accept(first);
    await half.submit('y');
    expect((await half.seal()).body.outcome, 'the second may still be accepted').to.equal(null);
  });

  it('ALL_TERMINAL: is satisfied once sealed with every member terminal, however each ended', async () => {
    const team = await Team.create({ condition: 'ALL_TERMINAL' });
    await team.succeeded(1);
    expect((await team.view()).state).to.equal('OPEN');
    await team.submit('b');
    await team.seal();
    const claim = await team.queue.claim();
    expect((await team.queue.act('complete', claim)).body.groupState).to.equal('DECIDED');
    expect((await team.queue.act('complete', claim)).body).to.include({ groupState: 'DECIDED', replay: true });
    expect(await team.view()).to.include({ outcome: 'SATISFIED' });
    const now = Date.now();
    const iso = (seconds: number) => new Date(now + seconds * 1000).toISOString();
    await team.queue.world.at(now);
    const due = await Team.create({ condition: 'ALL_TERMINAL', deadline: iso(10) }, team.queue);
    await due.submit('a', { deadline: iso(5) });
    await due.seal();
    await team.queue.world.at(now + 12_000);
    expect((await team.queue.recv()).status).to.equal(204);
    expect(await due.view(), 'in time, though noticed late').to.include({ outcome: 'SATISFIED', decidedAt: iso(5) });
  });

  it('follows the seal of an empty group: FIRST and N are UNSATISFIABLE, ALL_TERMINAL is SATISFIED', async () => {
    const queue = await Queue.create();
    const expected = { FIRST_ACCEPTED: 'UNSATISFIABLE', N_ACCEPTED: 'UNSATISFIABLE', ALL_TERMINAL: 'SATISFIED' };
    for (const [condition, outcome] of Object.entries(expected)) {
      const team = await Team.create({ condition, threshold: 1 }, queue);
      const sealed = (await team.seal()).body;
      expect(sealed).to.deep.equal({ groupId: team.id, state: 'SEALED', outcome });
      expect((await team.seal()).body, 'any later seal answers the same').to.deep.equal(sealed);
      expect(await team.view()).to.include({ state: 'DECIDED', outcome });
    }
    expect(await new Team(queue, '', '').eventCount('group.sealed')).to.equal(3);
  });

  it('lets any later seal of a sealed group answer as the first did; a group decided unsealed is GROUP_DECIDED', async () => {
    const team = await Team.create();
    const [taskId = ''] = await team.succeeded(1);
    const sealed = (await team.seal()).body;
    await team.accept(taskId);
    expect((await team.seal()).body).to.deep.equal(sealed);
    const open = await Team.create({}, team.queue);
    const [other = ''] = await open.succeeded(1);
    await open.accept(other);
    const reply = await open.seal();
    expect(codeOf(reply)).to.equal('409 GROUP_DECIDED');
  });

  it('EXPIRED: is taken at the deadline of an undecided group, and cancels its pending members', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now);
    const team = await Team.create({ deadline: new Date(now + 1000).toISOString() }, queue);
    await team.submitted(2);
    const held = await queue.claim();
    await queue.world.at(now + 1500);
    expect((await queue.recv()).status).to.equal(204);
    const decidedAt = new Date(now + 1000).toISOString();
    expect(await team.view()).to.include({ state: 'DECIDED', outcome: 'EXPIRED', decidedAt });
    expect(await team.states()).to.deep.equal(['RUNNING', 'CANCELLED']);
    expect((await queue.message((await team.view()).members[1].messageId)).finishedAt).to.equal(decidedAt);
    await queue.act('complete', held);
    const verdict = (await team.accept((await team.view()).members[0].taskId)).body;
    expect(verdict).to.include({ verdict: 'ACCEPTED', groupState: 'DECIDED', outcome: 'EXPIRED' });
    expect(codeOf(await team.submit('late'))).to.equal('409 GROUP_NOT_OPEN');
  });

  it('is taken once under 100 parallel accepts at the threshold', async () => {
    const team = await Team.create({ condition: 'N_ACCEPTED', threshold: 50 });
    const ids = await team.submitted(100);
    const { messages } = await team.queue.claim({ max: 100 });
    await Promise.all(messages.map((claim: { id: string; token: string }) => team.queue.act('complete', claim)));
    const replies = await Promise.all(ids.map((id) => team.accept(id)));
    expect(replies.map(({ status }) => status)).to.deep.equal(ids.map(() => 200));
    const states = replies.map(({ body }) => `${body.groupState} ${body.outcome}`);
    expect(states.filter((state) => state === 'OPEN null')).to.have.lengthOf(49);
    expect(states.filter((state) => state === 'DECIDED SATISFIED')).to.have.lengthOf(51);
    // More events than one page holds, so this reads the journal directly.
    const { service, prefix } = team.queue.world;
    const entries = await service.store.xrange(`${prefix}:events`, '-', '+');
    const types = entries.map(([, values]) => values[0]);
    expect(types.filter((type) => type === 'group.decided')).to.have.lengthOf(1);
    expect(types.filter((type) => type === 'task.accepted')).to.have.lengthOf(100);
    expect((await team.view()).counts.accepted).to.equal(100);
  });

  it('lets a member be received or cancelled, never both, when it races with receives', async () => {
    const world = await World.create();
    const team = await Team.create({}, await Queue.create({}, world));
    const [taskId = ''] = await team.succeeded(1);
    await team.fill(Array.from({ length: 99 }, (_, i) => `w${i}`));
    const received = Promise.all(Array.from({ length: 80 }, () => team.queue.recv()));
    const [replies] = await Promise.all([received, team.accept(taskId)]);
    const held = replies.filter(({ status }) => status === 200).map(({ body }) => body.taskId);
    const { members, counts } = await team.view();
    const running = members.filter(({ state }: { state: string }) => state === 'RUNNING');
    expect(running.map((member: { taskId: string }) => member.taskId).sort()).to.deep.equal(held.sort());
    expect(counts).to.include({ pending: 0, running: held.length, cancelled: 99 - held.length });
    expect((await team.queue.recv()).status).to.equal(204);
  });
});

describe('verdicts', () => {
  it('accept requires a SUCCEEDED task, reject any terminal one', async () => {
    const team = await Team.create();
    const [taskId = ''] = await team.submitted(1);
    expect(codeOf(await team.accept(taskId))).to.equal('409 TASK_NOT_SUCCEEDED');
    expect(codeOf(await team.reject(taskId))).to.equal('409 TASK_NOT_TERMINAL');
    await team.queue.act('nack', await team.queue.claim(), { retry: false });
    expect(codeOf(await team.accept(taskId))).to.equal('409 TASK_NOT_SUCCEEDED');
    const rejected = { taskId, verdict: 'REJECTED', groupId: team.id, groupState: 'OPEN', outcome: null };
    expect((await team.reject(taskId)).body).to.deep.equal(rejected);
    expect((await team.view()).counts).to.include({ failed: 1, rejected: 1 });
    await team.submit('another');
    await team.queue.act('complete', await team.queue.claim());
    expect((await team.seal()).body.outcome, 'that one may still be accepted').to.equal(null);
  });

  it('keep the first: the same again is 200 and changes nothing, the other is VERDICT_CONFLICT', async () => {
    const team = await Team.create({ condition: 'N_ACCEPTED', threshold: 2 });
    const [taskId = ''] = await team.succeeded(1);
    const first = await team.accept(taskId);
    const again = await team.accept(taskId);
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect(codeOf(await team.reject(taskId))).to.equal('409 VERDICT_CONFLICT');
    expect((await team.view()).counts).to.include({ accepted: 1, rejected: 0 });
    expect(await team.eventCount('task.accepted')).to.equal(1);
  });

  it('count no operation when repeated without effect, nor does a seal or a join', async () => {
    const team = await Team.create({ condition: 'N_ACCEPTED', threshold: 2 });
    const [taskId = ''] = await team.succeeded(1);
    const outside = await team.queue.sent();
    const all = async () => [await team.join(outside), await team.accept(taskId), await team.seal()];
    const operations = async () => (await team.queue.world.get('/usage')).body.days.at(-1).operations;
    const replies = await all();
    const before = await operations();
    const again = await all();
    expect(again.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(again[2]?.body).to.deep.equal(replies[2]?.body);
    expect(await operations()).to.equal(before);
  });

  it('on a member of another group are 404 TASK_NOT_FOUND', async () => {
    const team = await Team.create();
    const [taskId = ''] = await (await Team.create({}, team.queue)).succeeded(1);
    for (const reply of [await team.accept(taskId), await team.reject(taskId)])
      expect(codeOf(reply)).to.equal('404 TASK_NOT_FOUND');
  });
});
