import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Aging, day } from '../retention/support.ts';
import { Queue } from './queue.ts';

const requeue = (queue: Queue, id: string, body?: object): Promise<Reply> =>
  queue.world.post(`/messages/${id}/requeue`, body);

/** Creates a message in each state from which it can be requeued; returns ids by state. The clock stands at `now`. */
async function ends(queue: Queue, now: number, fields: object = {}): Promise<Record<string, string>> {
  const failed = await queue.sent(fields);
  for (let attempt = 0; attempt < 5; attempt++) await queue.act('nack', await queue.claim(), { retry: true });
  const rejected = await queue.sent(fields);
  await queue.act('nack', await queue.claim(), { retry: false });
  const cancelled = await queue.sent(fields);
  await queue.world.mustPost(`/messages/${cancelled}/cancel`);
  const expired = await queue.sent({ ...fields, deadline: new Date(now + 1000).toISOString() });
  await queue.world.at(now + 1000);
  return { FAILED: failed, REJECTED: rejected, CANCELLED: cancelled, EXPIRED: expired };
}

async function begin(): Promise<{ queue: Queue; now: number }> {
  const world = await World.create();
  const now = Date.now();
  await world.at(now);
  return { queue: await Queue.create({}, world), now };
}

describe('POST /messages/{id}/requeue', () => {
  it('returns a message of each of the four states to READY as if just sent, and answers the record', async () => {
    const { queue, now } = await begin();
    const all = await ends(queue, now);
    for (const [state, id] of Object.entries(all)) {
      const before = (await queue.world.get(`/messages/${id}`)).body;
      expect(before.state).to.equal(state);
      const reply = await requeue(queue, id);
      expect(reply.status, reply.text).to.equal(200);
      expect(reply.body).to.deep.equal({
        ...before,
        ...{ state: 'READY', attempts: 0, reason: null, result: null, finishedAt: null, deadline: null },
        ...{ holder: null, holderSession: null, claimedAt: null, leaseExpiresAt: null },
      });
      expect((await queue.world.get(`/messages/${id}`)).body).to.deep.equal(reply.body);
    }
    await expectAgreement(queue.world);
    expect(await queue.counts()).to.deep.equal({ ready: 4 });
    const { events } = (await queue.world.get('/watch?types=message.requeued')).body;
    const actor = await queue.world.keyId();
    expect(events.map(({ payload }: { payload: object }) => payload)).to.deep.equal(
      Object.values(all).map((id) => ({
        ...{ messageId: id, scopeId: queue.scopeId, mailboxId: queue.id, taskId: id, state: 'READY', attempts: 0 },
        actor,
      })),
    );
    expect((await queue.world.get('/usage')).body.days.at(-1).byCall['message.requeue']).to.equal(4);
  });

  it('gives it all its attempts again, at the back of the queue; earlier tokens are CLAIM_LOST', async () => {
    const { queue } = await begin();
    const id = await queue.sent();
    const old = await queue.claim();
    await queue.act('nack', old, { retry: false });
    const next = await queue.sent();
    await requeue(queue, id);
    expect(codeOf(await queue.act('complete', old))).to.equal('409 CLAIM_LOST');
    expect((await queue.claim()).id).to.equal(next);
    for (let attempt = 1; attempt <= 5; attempt++) {
      const claim = await queue.claim();
      expect([claim.id, claim.attempt]).to.deep.equal([id, attempt]);
      await queue.act('nack', claim, { retry: true });
    }
    expect(await queue.message(id)).to.include({ state: 'FAILED', reason: 'ATTEMPTS_EXHAUSTED', attempts: 5 });
    expect(await queue.counts()).to.deep.equal({ claimed: 1, failed: 1 });
    await expectAgreement(queue.world);
  });

  it('keeps its workKey, and wakes a held receive', async () => {
    const { queue } = await begin();
    const id = await queue.sent({ workKey: 'once' });
    await queue.act('nack', await queue.claim(), { retry: false });
    const held = queue.recv({ waitSeconds: 30 });
    const again = async () => (await queue.send({ workKey: 'once' })).body;
    expect(await again()).to.include({ id, state: 'REJECTED', replay: true });
    await requeue(queue, id);
    expect((await held).body.id).to.equal(id);
    expect(await again()).to.include({ id, state: 'CLAIMED', replay: true });
  });

  it('clears a deadline that has passed, and keeps one that lies ahead, with its timer; a delay may not reach it', async () => {
    const { queue, now } = await begin();
    const deadline = new Date(now + 10_000).toISOString();
    const id = await queue.sent({ deadline });
    await queue.world.mustPost(`/messages/${id}/cancel`);
    expect(codeOf(await requeue(queue, id, { delaySeconds: 10 }))).to.equal('400 VALIDATION_FAILED');
    expect((await requeue(queue, id, { delaySeconds: null })).body.deadline).to.equal(deadline);
    await expectAgreement(queue.world);
    await queue.world.at(now + 10_000);
    await queue.world.service.due.drain(queue.world.org);
    expect(await queue.message(id)).to.include({ state: 'EXPIRED', reason: 'DEADLINE_EXCEEDED' });
    expect((await requeue(queue, id)).body).to.include({ state: 'READY', deadline: null });
    await expectAgreement(queue.world);
  });

  it('refuses READY, CLAIMED and ACKED messages with MESSAGE_NOT_REQUEUABLE', async () => {
    const { queue } = await begin();
    const id = await queue.sent();
    const refused = async (state: string) => {
      const reply = await requeue(queue, id);
      expect(codeOf(reply), state).to.equal('409 MESSAGE_NOT_REQUEUABLE');
      expect(reply.body.error.message).to.include(state);
    };
    await refused('READY');
    const claim = await queue.claim();
    await refused('CLAIMED');
    await queue.act('complete', claim);
    await refused('ACKED');
  });

  it('a requeue respects the limits of a send, and changes nothing when refused', async () => {
    const world = await World.create({ plan: 'enterprise', figures: { tasks: '3' } });
    const now = Date.now();
    await world.at(now);
    const queue = await Queue.create({ backlogLimit: 1 }, world);
    const deadline = new Date(now + 60_000).toISOString();
    const id = await queue.sent();
    await world.mustPost(`/messages/${id}/cancel`);
    const other = await queue.sent({ deadline });
    const refused = async (code: string, message = id) => {
      const before = (await world.get(`/messages/${message}`)).body;
      expect(codeOf(await requeue(queue, message)), code).to.equal(code);
      expect((await world.get(`/messages/${message}`)).body).to.deep.equal(before);
    };
    expect((await requeue(queue, id)).body.error.message).to.include('backlogLimit');
    await refused('409 BACKLOG_FULL');
    await world.call('PATCH', `/mailboxes/${queue.id}`, { backlogLimit: 100 });
    await world.call('PUT', '/limits', { maxBacklog: 1 });
    expect((await requeue(queue, id)).body.error.message).to.include('maxBacklog');
    await refused('409 BACKLOG_FULL');
    await world.call('PUT', '/limits', { maxBacklog: null, maxArmedTimers: 1 });
    await world.mustPost(`/messages/${other}/cancel`);
    await queue.sent({ deadline });
    await refused('409 TIMERS_FULL', other);
    await queue.sent();
    await queue.sent();
    await refused('409 ACTIVE_TASKS_LIMITED');
    await queue.act('complete', await queue.claim());
    const record = `muster:{${world.org}}`;
    const month = new Date(now).toISOString().slice(0, 7);
    const used = { plan: 'free', unlimited: '0', operations: 1, operationsMonth: month, usedOperations: 5 };
    await world.service.store.hset(record, used);
    await refused('402 OPERATIONS_EXHAUSTED');
    await world.service.store.hset(record, 'operations', 100);
    expect((await requeue(queue, id)).status).to.equal(200);
    await expectAgreement(world);
  });

  it('counts no task for an INBOX message', async () => {
    const { queue } = await begin();
    const inbox = await Queue.create({ mode: 'INBOX' }, queue.world);
    const id = await inbox.sent();
    await queue.world.mustPost(`/messages/${id}/cancel`);
    expect((await requeue(inbox, id)).body).to.include({ state: 'READY', taskId: null });
    await expectAgreement(queue.world);
  });
});

describe('the retention of a requeued message', () => {
  it('begins anew: an earlier end removes nothing, whether the message is live or finished again', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    const queue = new Queue(world, traffic.work);
    const id = await queue.sent({ workKey: 'w' });
    for (let attempt = 0; attempt < 5; attempt++) await queue.act('nack', await queue.claim(), { retry: true });
    await aging.sweepAt(3 * day);
    await requeue(queue, id);
    await aging.sweepAt(6 * day);
    await queue.act('nack', await queue.claim(), { retry: false });
    const state = async () => (await world.get(`/messages/${id}`)).body.state;
    // By now the first end is longer ago than the window.
    await aging.sweepAt(7 * day);
    expect(await state()).to.equal('REJECTED');
    await requeue(queue, id);
    await aging.sweepAt(14 * day);
    expect(await state(), 'live ones stay').to.equal('READY');
    await world.mustPost(`/messages/${id}/cancel`);
    await aging.sweepAt(21 * day - 1);
    expect(await state()).to.equal('CANCELLED');
    await expectAgreement(world);
    await aging.sweepAt(21 * day);
    expect(await state()).to.equal(undefined);
    expect((await aging.body(`/ops/runs/${queue.scopeId}`)).messages[0]).to.include({
      ...{ state: 'CANCELLED', reason: 'CANCELLED_BY_CALLER', attempts: 0 },
    });
    expect(codeOf(await requeue(queue, id)), 'a tombstone').to.equal('404 MESSAGE_NOT_FOUND');
    expect(codeOf(await world.post(`/messages/${id}/cancel`))).to.equal('404 MESSAGE_NOT_FOUND');
    expect(codeOf(await world.get(`/messages/${id}`))).to.equal('404 MESSAGE_NOT_FOUND');
    const { requeued } = await world.mustPost(`/mailboxes/${queue.id}/requeue`, { state: 'CANCELLED' });
    expect(requeued).to.equal(0);
    await expectAgreement(world);
  });

  it('works for a message that ended twice in the same millisecond', async () => {
    const aging = await Aging.begin();
    const { traffic, world } = aging;
    for (const mailboxId of [traffic.work, traffic.inbox]) {
      const queue = new Queue(world, mailboxId);
      const id = await queue.sent();
      await world.mustPost(`/messages/${id}/cancel`);
      await requeue(queue, id);
      await world.mustPost(`/messages/${id}/cancel`);
    }
    await aging.sweepAt(8 * day);
    expect((await world.get('/census')).body.messages.CANCELLED).to.equal(0);
    await expectAgreement(world);
  });
});
