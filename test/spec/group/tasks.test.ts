import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { Team } from './team.ts';

describe('POST /task-groups/:groupId/tasks', () => {
  it("delivers a member task through the group's mailbox, in its gate scope, with its input as payload", async () => {
    const team = await Team.create();
    const { status, body } = await team.submit('shard-1', { input: { n: [] }, deadline: '2040-01-01T00:00:00Z' });
    expect(status).to.equal(201);
    const { taskId, messageId } = body;
    expect(body).to.deep.equal({
      id: taskId,
      taskId,
      taskKey: 'shard-1',
      groupId: team.id,
      messageId,
      scopeId: team.gate,
      state: 'PENDING',
      replay: false,
    });
    const claim = await team.queue.claim({ scopeId: team.gate });
    const fields = {
      id: messageId,
      taskId,
      taskKey: 'shard-1',
      groupId: team.id,
      scopeId: team.gate,
      payload: { n: [] },
    };
    expect(claim).to.deep.include({ ...fields, deadline: '2040-01-01T00:00:00.000Z' });
    const ofRun = (await team.queue.list(`?scopeId=${team.queue.scopeId}`)).body.messages;
    expect(ofRun.map(({ id }: { id: string }) => id)).to.deep.equal([messageId]);
    expect((await team.queue.act('renew', claim)).body.groupState).to.equal('OPEN');
    const done = await team.queue.act('complete', claim, { result: { payload: { sum: 3 } } });
    const answer = { taskId, taskState: 'SUCCEEDED', groupId: team.id, groupState: 'OPEN', replay: false };
    expect(done.body).to.deep.include(answer);
    expect((await team.view()).members).to.deep.equal([
      {
        ...{ taskId, taskKey: 'shard-1', state: 'SUCCEEDED', verdict: null, reason: null, attempts: 1, messageId },
        ...{ outcome: { sum: 3 }, lastError: null, deadline: '2040-01-01T00:00:00.000Z' },
      },
    ]);
    const events = (await team.queue.world.get('/events')).body.events.slice(4);
    expect(events.map(({ type }: { type: string }) => type)).to.deep.equal([
      ...['task.submitted', 'message.sent', 'message.claimed', 'task.started', 'message.acked', 'task.succeeded'],
    ]);
    const payload = { messageId, taskId, groupId: team.id, scopeId: team.gate, attempts: 1 };
    expect(events[2].payload).to.deep.equal({ ...payload, mailboxId: team.queue.id, state: 'CLAIMED' });
    expect(events[5].payload).to.deep.equal({ ...payload, state: 'SUCCEEDED' });
  });

  it('makes it available to receives for the run, too; absent input is null', async () => {
    const team = await Team.create();
    await team.queue.sent();
    for (const taskKey of ['a', 'b']) await team.submit(taskKey);
    expect((await team.queue.claim({ scopeId: team.gate })).taskKey, 'not what is older above').to.equal('a');
    await team.queue.claim();
    expect(await team.queue.claim()).to.include({ groupId: team.id, taskKey: 'b', payload: null });
  });

  it('creates one task per taskKey in a group', async () => {
    const team = await Team.create();
    await team.submit('a');
    expect(codeOf(await team.submit('a', { input: 1 }))).to.equal('409 TASK_KEY_CONFLICT');
    expect((await (await Team.create({}, team.queue)).submit('a')).status).to.equal(201);
  });

  it('replays the first submission for the same Idempotency-Key', async () => {
    const team = await Team.create();
    const first = await team.post('tasks', { taskKey: 'a', input: 1 }, { 'Idempotency-Key': 'k' });
    const again = await team.post('tasks', { taskKey: 'a', input: 1 }, { 'Idempotency-Key': 'k' });
    expect([again.status, again.body]).to.deep.equal([201, { ...first.body, replay: true }]);
    expect((await team.view()).counts.members).to.equal(1);
  });

  it('accepts at most 100 members per group', async () => {
    const team = await Team.create();
    await team.submitted(99);
    const outside = [await team.queue.sent(), await team.queue.sent()];
    expect((await team.join(outside[0] ?? '')).body.members).to.equal(100);
    expect(codeOf(await team.submit('more'))).to.equal('409 GROUP_FULL');
    expect(codeOf(await team.join(outside[1] ?? ''))).to.equal('409 GROUP_FULL');
  });

  it('adds members only to an OPEN group', async () => {
    const team = await Team.create();
    await team.submitted(1);
    await team.seal();
    const decided = await Team.create({ condition: 'ALL_TERMINAL' }, team.queue);
    await decided.seal();
    const outside = await team.queue.sent();
    for (const closed of [team, decided]) {
      for (const reply of [await closed.submit('late'), await closed.join(outside)]) {
        expect(codeOf(reply)).to.equal('409 GROUP_NOT_OPEN');
      }
    }
  });

  it('applies the limits on payload, backlog and active tasks', async () => {
    const world = await World.create({ limits: { maxPayloadBytes: 10, maxBacklog: 3 }, figures: { tasks: '2' } });
    const team = await Team.create({}, await Queue.create({ backlogLimit: 1 }, world));
    const large = await team.submit('a', { input: '0123456789' });
    expect(codeOf(large)).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(large.body.error.message).to.match(/^input /);
    expect((await team.submit('a', { input: '01234567' })).status, 'as many bytes as may be').to.equal(201);
    await team.queue.claim();
    expect(codeOf(await team.submit('b'))).to.equal('409 BACKLOG_FULL');
    const other = await Team.create({}, await Queue.create({}, world));
    await other.submit('a');
    expect(codeOf(await other.submit('b'))).to.equal('409 ACTIVE_TASKS_LIMITED');
    const inbox = await Queue.create({ mode: 'INBOX' }, world);
    await inbox.sent();
    expect((await other.submit('b')).body.error.message).to.include('maxBacklog');
  });

  it('fails a member whose attempts are used up or that is rejected; its deadline expires it', async () => {
    const team = await Team.create();
    const world = team.queue.world;
    const now = Date.now();
    await world.at(now);
    await team.submit('worn');
    for (let i = 0; i < 5; i++) await team.queue.act('nack', await team.queue.claim(), { retry: true });
    await team.submit('refused');
    await team.queue.act('nack', await team.queue.claim(), { retry: false });
    await team.submit('late', { deadline: new Date(now + 1000).toISOString() });
    await world.at(now + 1000);
    await team.seal();
    const { members, counts } = await team.view();
    expect(counts).to.include({ members: 3, pending: 0, running: 0, failed: 2, expired: 1 });
    expect(
      members.map(({ state, reason, attempts }: Record<string, unknown>) => [state, reason, attempts]),
    ).to.deep.equal([
      ['FAILED', 'ATTEMPTS_EXHAUSTED', 5],
      ['FAILED', 'REJECTED_BY_WORKER', 1],
      ['EXPIRED', 'DEADLINE_EXCEEDED', 0],
    ]);
    expect([await team.eventCount('task.failed'), await team.eventCount('task.expired')]).to.deep.equal([2, 1]);
  });
});

describe('POST /task-groups/:groupId/join-task', () => {
  it('makes an outside task a member, which keeps its mailbox and scope; again is 200', async () => {
    const team = await Team.create();
    const taskId = await team.queue.sent();
    const { status, body } = await team.join(taskId);
    expect([status, body]).to.deep.equal([200, { groupId: team.id, groupState: 'OPEN', taskId, members: 1 }]);
    expect((await team.join(taskId)).body).to.deep.equal(body);
    expect(await team.eventCount('group.task_joined')).to.equal(1);
    expect(await team.queue.claim()).to.include({
      id: taskId,
      taskId,
      groupId: team.id,
      taskKey: null,
      scopeId: team.queue.scopeId,
    });
    const joined = { taskId, messageId: taskId, taskKey: null, state: 'RUNNING', attempts: 1 };
    expect((await team.view()).members[0]).to.include(joined);
    await team.seal();
    expect((await team.join(taskId)).body).to.deep.equal({ ...body, groupState: 'SEALED' });
  });

  it('accepts a PENDING, RUNNING or SUCCEEDED task, which is then a member in every respect', async () => {
    const team = await Team.create({ condition: 'N_ACCEPTED', threshold: 2 });
    const done = await team.queue.sent();
    const claim = await team.queue.claim();
    const first = (await team.queue.act('complete', claim, { result: { payload: 7 } })).body;
    const [running, pending] = [await team.queue.sent(), await team.queue.sent()];
    const held = await team.queue.claim();
    for (const taskId of [running, pending, done]) expect((await team.join(taskId)).status).to.equal(200);
    expect(await team.states(), 'in the order in which they joined').to.deep.equal(['RUNNING', 'PENDING', 'SUCCEEDED']);
    expect((await team.view()).members[2]).to.include({ outcome: 7, attempts: 1 });
    expect((await team.queue.act('complete', claim)).body, 'the first answer').to.deep.equal({
      ...first,
      replay: true,
    });
    expect((await team.queue.act('complete', held)).body).to.include({ groupId: team.id, groupState: 'OPEN' });
    await team.accept(done);
    expect((await team.accept(running)).body).to.include({ groupState: 'DECIDED', outcome: 'SATISFIED' });
    expect(await team.queue.message(pending)).to.include({ state: 'CANCELLED', reason: 'GROUP_DECIDED' });
    expect((await team.queue.recv()).status).to.equal(204);
  });

  it('refuses a task that failed or belongs to another group, and a message without a task', async () => {
    const team = await Team.create();
    const failed = await team.queue.sent();
    await team.queue.act('nack', await team.queue.claim(), { retry: false });
    const other = await Team.create({}, team.queue);
    const [member = ''] = await other.submitted(1);
    const outside = await team.queue.sent();
    await other.join(outside);
    for (const taskId of [failed, member, outside])
      expect(codeOf(await team.join(taskId))).to.equal('409 TASK_NOT_JOINABLE');
    const inbox = await Queue.create({ mode: 'INBOX' }, team.queue.world);
    const { messageId } = (await other.view()).members[0];
    for (const taskId of [randomUUID(), await inbox.sent(), messageId]) {
      const reply = await team.join(taskId);
      expect(codeOf(reply)).to.equal('409 TASK_NOT_FOUND');
    }
  });
});
