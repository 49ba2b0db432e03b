import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { sendMany } from './many.ts';
import { Queue } from './queue.ts';
import { idsOf } from './site.ts';
import { row } from './steps.ts';

const iso = (at: number) => new Date(at).toISOString();

/** No worker runs here: messages become ready by the clock alone. */
describe('Delayed messages', () => {
  let now: number;
  const queueWith = async (fields: object = {}): Promise<Queue> => {
    const queue = await Queue.create(fields);
    now = Date.now();
    await queue.world.at(now);
    return queue;
  };

  it('are DELAYED when sent with delaySeconds, and ready from that moment on, not a millisecond earlier', async () => {
    const queue = await queueWith();
    const sent = await queue.send({ delaySeconds: 10 });
    expect(sent.body.state).to.equal('DELAYED');
    const id = sent.body.id as string;
    expect(await queue.message(id)).to.include({ state: 'DELAYED', readyAt: iso(now + 10_000) });
    expect(await queue.counts()).to.deep.equal({ delayed: 1 });
    await queue.world.at(now + 9_999);
    expect((await queue.recv()).status).to.equal(204);
    await queue.world.at(now + 10_000);
    const claim = await queue.claim();
    expect(claim).to.include({ id, readyAt: null });
    expect(await queue.counts()).to.deep.equal({ claimed: 1 });
    expect(await queue.eventTypes()).to.deep.equal(['message.sent', 'message.claimed']);
  });

  it('are ordered by the moment they became ready, among messages that were ready before and after', async () => {
    const queue = await queueWith();
    const late = await queue.sent({ delaySeconds: 20 });
    const early = await queue.sent({ delaySeconds: 10 });
    const first = await queue.sent();
    await queue.world.at(now + 15_000);
    const between = await queue.sent();
    await queue.world.at(now + 30_000);
    const ids = [];
    for (let i = 0; i < 4; i++) ids.push((await queue.claim()).id);
    expect(ids).to.deep.equal([first, early, between, late]);
  });

  it('come to a receive before any worker has looked at them, up to 16 due ones in one answer', async () => {
    const queue = await queueWith();
    const ids = await row(queue, 20, { delaySeconds: 10 });
    await queue.world.at(now + 10_000);
    const { body } = await queue.recv({ max: 20 });
    expect(idsOf(body.messages)).to.deep.equal(ids.slice(0, 16));
    expect(idsOf((await queue.recv({ max: 20 })).body.messages)).to.deep.equal(ids.slice(16));
  });

  it('count wherever READY ones do: backlogs, tasks, runs, timers; with a deadline they take two timers', async () => {
    const queue = await queueWith({ backlogLimit: 2 });
    await queue.sent({ delaySeconds: 10 });
    await queue.sent({ delaySeconds: 10, deadline: iso(now + 60_000) });
    expect(codeOf(await queue.send())).to.equal('409 BACKLOG_FULL');
    const census = (await queue.world.get('/census')).body;
    expect(census.messages).to.include({ DELAYED: 2, READY: 0 });
    expect(census.tasks.PENDING).to.equal(2);
    expect(census.scopes.ACTIVE).to.equal(1);
    expect(census.timers.ARMED).to.equal(3);
    expect((await queue.world.get('/backlog')).body).to.include({ delayedMessages: 2, readyMessages: 0 });
    await queue.world.at(now + 10_000);
    await queue.act('complete', await queue.claim());
    await queue.act('complete', await queue.claim());
    expect((await queue.world.get('/census')).body.timers.ARMED).to.equal(0);
  });

  it('can be refused with TIMERS_FULL by a send, never by a retry', async () => {
    const queue = await queueWith({ retryDelaySeconds: 5 });
    await queue.world.call('PUT', '/limits', { maxArmedTimers: 1 });
    await queue.sent();
    await queue.sent({ delaySeconds: 5 });
    expect(codeOf(await queue.send({ delaySeconds: 5 }))).to.equal('409 TIMERS_FULL');
    const { body } = await queue.act('nack', await queue.claim(), { retry: true });
    expect(body).to.include({ state: 'DELAYED', readyAt: iso(now + 5_000) });
  });

  it('expire by their deadline; a send with a delay that reaches it is 400, a retry is not', async () => {
    const queue = await queueWith();
    const deadline = iso(now + 10_000);
    const refused = await queue.send({ delaySeconds: 10, deadline });
    expect(codeOf(refused)).to.equal('400 VALIDATION_FAILED');
    expect(refused.body.error.message).to.contain('delaySeconds must end before the deadline');
    const id = await queue.sent({ deadline });
    const { body } = await queue.act('nack', await queue.claim(), { retry: true, delaySeconds: 60 });
    expect(body).to.include({ state: 'DELAYED', readyAt: iso(now + 60_000) });
    await queue.world.at(now + 10_000);
    expect((await queue.recv()).status).to.equal(204);
    expect(await queue.message(id)).to.include({ state: 'EXPIRED', readyAt: null, finishedAt: deadline });
    expect((await queue.world.get('/census')).body.timers.ARMED).to.equal(0);
  });

  it('double their pause up to the maximum, after a nack and after a lapsed lease alike', async () => {
    const queue = await queueWith({ retryDelaySeconds: 10, maxRetryDelaySeconds: 25, maxAttempts: 4 });
    const id = await queue.sent();
    let at = now;
    for (const pause of [10, 20, 25]) {
      const claim = await queue.claim({ leaseSeconds: 5 });
      expect(claim.maxAttempts).to.equal(4);
      if (pause === 20) {
        at += 5_000;
        await queue.world.at(at);
        // The next call finds it lapsed.
        await queue.recv();
      } else await queue.act('nack', claim, { retry: true });
      expect(await queue.message(id), `${pause} s`).to.include({ state: 'DELAYED', readyAt: iso(at + pause * 1000) });
      at += pause * 1000;
      await queue.world.at(at);
    }
    const last = await queue.act('nack', await queue.claim(), { retry: true });
    expect(last.body).to.include({ state: 'FAILED', attempts: 4, readyAt: null });
  });

  it("double their own pauses, each in place of the mailbox's, after a nack and after a lapsed lease", async () => {
    const queue = await queueWith({ retryDelaySeconds: 10, maxRetryDelaySeconds: 25 });
    const cases: readonly [fields: object, pauses: readonly number[]][] = [
      [{ retryDelaySeconds: 2, maxRetryDelaySeconds: 5 }, [2, 4, 5]],
      [{ retryDelaySeconds: 7 }, [7, 14, 25]],
      [{ retryDelaySeconds: 30 }, [30, 30, 30]],
      [{ maxRetryDelaySeconds: 12 }, [10, 12, 12]],
      [{ retryDelaySeconds: 0 }, [0, 0, 0]],
    ];
    let at = now;
    for (const [fields, pauses] of cases) {
      const what = JSON.stringify(fields);
      const id = await queue.sent(fields);
      expect(await queue.message(id), what).to.include({
        retryDelaySeconds: null,
        maxRetryDelaySeconds: null,
        ...fields,
      });
      for (const [n, pause] of pauses.entries()) {
        const claim = await queue.claim({ leaseSeconds: 5 });
        expect(claim.id).to.equal(id);
        expect(claim).not.to.have.property('retryDelaySeconds');
        if (n === 1) {
          at += 5_000;
          await queue.world.at(at);
          // The next call finds it lapsed.
          await queue.world.get(`/census`);
          await queue.recv({ scopeId: randomUUID() });
        } else await queue.act('nack', claim, { retry: true });
        const readyAt = pause === 0 ? null : iso(at + pause * 1000);
        expect(await queue.message(id), `${what}: ${n}`).to.include({ state: pause ? 'DELAYED' : 'READY', readyAt });
        at += pause * 1000;
        await queue.world.at(at);
      }
      await queue.act('complete', await queue.claim());
    }
  });

  it('keep their own pauses when they are requeued, and as members of groups, in batches and atomic steps', async () => {
    const queue = await queueWith({ maxAttempts: 1 });
    const own = { retryDelaySeconds: 3, maxRetryDelaySeconds: 9 };
    const id = await queue.sent(own);
    await queue.act('nack', await queue.claim(), { retry: true });
    await queue.world.post(`/messages/${id}/requeue`);
    const team = await Team.create({ condition: 'ALL_TERMINAL' }, queue);
    const { messageId } = (await team.submit('one', { ...own, maxAttempts: 4 })).body;
    const send = {
      call: 'message.send',
      mailboxId: queue.id,
      scopeId: queue.scopeId,
      payload: 1,
      maxAttempts: 4,
      ...own,
    };
    const inBatch = (await queue.world.post('/batch', { calls: [send] })).body.results[0].body.id;
    const inStep = (await queue.world.post('/batch', { atomic: true, calls: [send] })).body.results[0].body.id;
    for (const one of [id, messageId, inBatch, inStep]) expect(await queue.message(one)).to.include(own);
    for (const scopeId of [team.gate, queue.scopeId, queue.scopeId, queue.scopeId]) {
      const claim = await queue.claim({ scopeId });
      const { body } = await queue.act('nack', claim, { retry: true });
      if (claim.id === id) expect(body.state).to.equal('FAILED');
      else expect(body, claim.id).to.include({ state: 'DELAYED', readyAt: iso(now + 3_000) });
    }
  });

  it("follow a nack's own delaySeconds, even 0, which is accepted only with retry true", async () => {
    const queue = await queueWith({ retryDelaySeconds: 10 });
    await queue.sent();
    const now0 = await queue.act('nack', await queue.claim(), { retry: true, delaySeconds: 0 });
    expect(now0.body).to.include({ state: 'READY', readyAt: null });
    const claim = await queue.claim();
    const refused = await queue.act('nack', claim, { retry: false, delaySeconds: 1 });
    expect(refused.body.error.message).to.equal('delaySeconds may only be sent with retry true');
    const delayed = await queue.act('nack', claim, { retry: true, delaySeconds: 3 });
    expect(delayed.body.readyAt).to.equal(iso(now + 3_000));
    expect(codeOf(await queue.act('complete', claim)), 'its token is over').to.equal('409 CLAIM_LOST');
  });

  it("keep the maxAttempts fixed by the send: their own or the mailbox's", async () => {
    const queue = await queueWith({ maxAttempts: 2 });
    const [one, two] = [await queue.sent({ maxAttempts: 1 }), await queue.sent()];
    for (const id of [one, two]) {
      const claim = await queue.claim();
      expect(claim).to.include({ id, maxAttempts: id === one ? 1 : 2 });
      const { body } = await queue.act('nack', claim, { retry: true });
      expect(body.state).to.equal(id === one ? 'FAILED' : 'READY');
    }
    expect((await queue.eventTypes()).slice(2)).to.deep.equal(
      ['claimed', 'failed', 'claimed', 'retried'].map((what) => `message.${what}`),
    );
  });

  it('are announced to workers when a sweep of several steps makes them', async () => {
    const queue = await queueWith({ retryDelaySeconds: 3 });
    const { world } = queue;
    const id = await queue.sent();
    await queue.claim({ leaseSeconds: 10 });
    const deadline = iso(now + 9_990);
    await Promise.all(Array.from({ length: 60 }, () => queue.sent({ deadline })));
    await world.at(now + 10_100);
    const { store, due } = world.service;
    await store.zrem('muster:due', world.org);
    await due.drain(world.org);
    await due.flush();
    expect((await queue.message(id)).state).to.equal('DELAYED');
    expect(Number(await store.zscore('muster:due', world.org))).to.equal(now + 13_000);
  });

  it('pass lastError and progress on to the next attempt; both count towards retainedBytes', async () => {
    const queue = await queueWith();
    const id = await queue.sent();
    const bytes = async () => (await queue.world.get('/usage')).body.days.at(-1).retainedBytes as number;
    const before = await bytes();
    const claim = await queue.claim();
    expect((await queue.act('renew', claim, { progress: { page: 7, big: 'a' } })).status).to.equal(200);
    expect((await queue.act('renew', claim, { progress: [8] })).status).to.equal(200);
    await queue.act('renew', claim);
    await queue.act('nack', claim, { retry: true, error: 'the model said 429' });
    expect(await bytes()).to.equal(before + '[8]'.length + 'the model said 429'.length);
    expect(await queue.claim()).to.deep.include({ id, attempt: 2, progress: [8], lastError: 'the model said 429' });
    const run = (await queue.world.get(`/ops/runs/${queue.scopeId}`)).body;
    expect(run.messages[0]).to.include({ lastError: 'the model said 429' }).and.not.have.property('progress');
    expect(JSON.stringify((await queue.world.get('/events')).body))
      .to.not.contain('the model said')
      .and.not.contain('[8]');
  });

  it('accept any JSON of at most 4,096 bytes as progress, else 413, and an error of 1 to 2,048 characters', async () => {
    const queue = await queueWith();
    await queue.sent();
    const claim = await queue.claim();
    expect((await queue.act('renew', claim, { progress: 'p'.repeat(4_094) })).status).to.equal(200);
    const refused = await queue.act('renew', claim, { progress: 'p'.repeat(4_095) });
    expect(codeOf(refused)).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(refused.body.error.message).to.contain('progress').and.contain('4096');
    for (const error of ['', 'e'.repeat(2_049)])
      expect(codeOf(await queue.act('nack', claim, { retry: true, error }))).to.equal('400 VALIDATION_FAILED');
    expect((await queue.act('nack', claim, { retry: true, error: 'é'.repeat(2_048) })).status).to.equal(200);
  });

  it("a delayed task is PENDING with readyAt, is cancelled by its group's decision, and shows lastError", async () => {
    const queue = await queueWith();
    const { world } = queue;
    const group = await world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'FIRST_ACCEPTED' });
    const submit = (taskKey: string, fields: object = {}) =>
      world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey, ...fields });
    const first = await submit('a', { maxAttempts: 1 });
    const other = await submit('b', { delaySeconds: 100 });
    expect(other.state).to.equal('PENDING');
    const { waitingTasks } = (await world.get('/ops/waits')).body;
    expect(waitingTasks.map(({ taskId, readyAt }: Record<string, string>) => [taskId, readyAt])).to.deep.equal([
      [first.taskId, null],
      [other.taskId, iso(now + 100_000)],
    ]);
    const claim = await queue.claim({ scopeId: group.scopeId });
    await queue.act('nack', claim, { retry: true, error: 'no luck' });
    const third = await submit('c');
    await queue.act('complete', await queue.claim({ scopeId: group.scopeId }));
    await world.mustPost(`/task-groups/${group.id}/tasks/${third.taskId}/accept`);
    const { members } = (await world.get(`/task-groups/${group.id}`)).body;
    expect(members.map(({ state, lastError }: Record<string, string>) => [state, lastError])).to.deep.equal([
      ['FAILED', 'no luck'],
      ['CANCELLED', null],
      ['SUCCEEDED', null],
    ]);
    expect((await queue.record()).counts.delayed).to.equal(0);
  });

  it('are READY in the answer to a known workKey from their moment on, swept or not', async () => {
    const queue = await queueWith();
    await queue.sent({ workKey: 'w', delaySeconds: 5 });
    expect((await queue.send({ workKey: 'w' })).body).to.include({ state: 'DELAYED', replay: true });
    await queue.world.at(now + 5_000);
    expect((await queue.send({ workKey: 'w' })).body).to.include({ state: 'READY', replay: true });
  });

  it('become ready a few per receive if many are due, all of them before a later message is received', async () => {
    const queue = await queueWith();
    const scopes = [queue.scopeId, randomUUID()];
    await sendMany(queue, 60, { scopeIds: scopes, delaySeconds: '5' });
    await queue.world.at(now + 6_000);
    const later = await queue.sent({ scopeId: scopes[1] });
    const claimed = [];
    for (let i = 0; i < 31; i++) claimed.push((await queue.claim({ scopeId: scopes[1] })).id);
    expect(new Set(claimed).size).to.equal(31);
    expect(claimed.at(-1)).to.equal(later);
    expect(await queue.counts()).to.deep.equal({ ready: 30, claimed: 31 });
  });

  it('are received once each by 200 parallel receives', async () => {
    const queue = await queueWith();
    await sendMany(queue, 100, { delaySeconds: '1' });
    await queue.world.at(now + 1_000);
    const replies = await Promise.all(Array.from({ length: 200 }, () => queue.recv()));
    const ids = replies.flatMap(({ status, body }) => (status === 200 ? [body.id] : []));
    expect([ids.length, new Set(ids).size]).to.deep.equal([100, 100]);
    expect(await queue.counts()).to.deep.equal({ claimed: 100 });
  });
});
