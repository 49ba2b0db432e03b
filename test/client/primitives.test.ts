import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMuster, type Muster, MusterError } from '../../src/clients/typescript/index.ts';
import { World } from '../support/world.ts';

describe('the typed client', () => {
  let muster: Muster;
  let world: World;
  const scopeId = randomUUID();
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  before(async () => {
    world = await World.create();
    muster = createMuster({ url: `${world.url}/`, key: world.apiKey, spaceId: world.spaceId });
  });
  const failure = async (call: Promise<unknown>): Promise<MusterError> => {
    const error = await call.then(() => undefined).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(MusterError);
    return error;
  };

  it('sends, receives, renews, completes and lists messages', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: 'jobs' });
    const worker = { mailboxId, scopeId, holder: 'agent', holderSession: 's', leaseSeconds: 30 };
    expect(await muster.message.recv(worker)).to.equal(undefined);
    const sent = await muster.message.send({ mailboxId, scopeId, payload: { n: 1 }, workKey: 'a b&c' });
    const again = await muster.message.send({ mailboxId, scopeId, payload: null, workKey: 'a b&c' });
    expect([again.id, again.replay]).to.deep.equal([sent.id, true]);
    const claim = await muster.message.recv(worker);
    if (!claim) throw new Error('nothing was ready');
    expect(claim.payload).to.deep.equal({ n: 1 });
    const { id: messageId, token } = claim;
    expect((await muster.message.renew({ messageId, token, leaseSeconds: 60 })).state).to.equal('CLAIMED');
    const done = await muster.message.complete({ messageId, token, result: { payload: [1] } });
    expect(done.taskState).to.equal('SUCCEEDED');
    const { messages } = await muster.message.list({ mailboxId, state: 'ACKED', workKey: 'a b&c', limit: 5 });
    expect(messages.map(({ id, result }) => ({ id, result }))).to.deep.equal([{ id: messageId, result: [1] }]);
    const lost = await failure(muster.message.nack({ messageId, token, retry: true }));
    expect([lost.code, lost.status]).to.deep.equal(['CLAIM_LOST', 409]);
  });

  it('makes many calls in one request, and tells what became of each', async () => {
    const { url, apiKey: key, spaceId } = await World.create();
    const muster = createMuster({ url, key, spaceId });
    const { id: mailboxId } = await muster.mailbox.create({ name: 'jobs' });
    const { message, mailbox, barrier } = muster.call;
    const worker = { mailboxId, scopeId, holder: 'agent', holderSession: 's' };
    const calls = [
      message.send({ mailboxId, scopeId, payload: { n: 1 } }),
      message.send({ mailboxId, scopeId, payload: 2 }, { idempotencyKey: 'mine' }),
      message.recv({ ...worker, max: 5 }),
      message.recv(worker),
      mailbox.delete({ mailboxId }),
      barrier.cancel({ barrierId: randomUUID() }),
    ] as const;
    const [first, second, claims, none, full, unknown] = await muster.batch(calls, { idempotencyKey: 'all' });
    if (!first.ok || !second.ok || !claims.ok || !none.ok || full.ok || unknown.ok) throw new Error('not as expected');
    expect([first.status, first.replayed, second.answer.state]).to.deep.equal([201, false, 'READY']);
    expect(claims.answer?.messages.map(({ payload }) => payload)).to.deep.equal([{ n: 1 }, 2]);
    expect([none.status, none.answer]).to.deep.equal([204, undefined]);
    expect([full.status, full.error.code]).to.deep.equal([409, 'MAILBOX_NOT_EMPTY']);
    expect(unknown.error).to.be.instanceOf(MusterError).and.to.include({ code: 'BARRIER_NOT_FOUND', status: 404 });
    const [again] = await muster.batch(calls, { idempotencyKey: 'all' });
    expect(again).to.deep.equal({ ...first, status: 200, replayed: true, answer: { ...first.answer, replay: true } });
    const all = claims.answer?.messages ?? [];
    const done = await muster.batch(all.map(({ id, token }) => message.complete({ messageId: id, token })));
    expect(done.map((result) => result.ok && result.answer.state)).to.deep.equal(['ACKED', 'ACKED']);
    const [begun, then] = await muster
      .batch([
        muster.call.scope.create({ name: 'graph' }),
        muster.call.message.send({ mailboxId, scopeId: { $from: 0 }, payload: 1 }),
        muster.call.message.send({ mailboxId, scopeId: { $from: 0 }, payload: 2, after: [{ $from: 1 }] }),
      ])
      .then(([, ...sent]) => sent);
    expect([begun, then].map((one) => one?.ok && one.answer.state)).to.deep.equal(['READY', 'BLOCKED']);
    expect((await failure(muster.batch([]))).code).to.equal('VALIDATION_FAILED');
  });

  it('looks at, cancels and requeues a message, and manages a mailbox', async () => {
    const name = randomUUID();
    const { id: mailboxId } = await muster.mailbox.create({ name, unique: true });
    expect((await muster.mailbox.create({ name, unique: true })).id).to.equal(mailboxId);
    expect((await muster.mailbox.list({ name })).mailboxes).to.have.length(1);
    const { id: messageId } = await muster.message.send({ mailboxId, scopeId, payload: 1 });
    expect((await muster.message.cancel({ messageId })).reason).to.equal('CANCELLED_BY_CALLER');
    expect((await muster.message.requeue({ messageId, delaySeconds: 0 })).state).to.equal('READY');
    expect((await muster.message.view({ messageId })).attempts).to.equal(0);
    const full = await failure(muster.mailbox.delete({ mailboxId }));
    expect([full.code, full.status]).to.deep.equal(['MAILBOX_NOT_EMPTY', 409]);
    const purged = await muster.mailbox.purge({ mailboxId, max: 10 });
    expect(purged).to.deep.equal({ cancelled: 1, nextCursor: null });
    expect((await muster.mailbox.requeue({ mailboxId, state: 'CANCELLED' })).requeued).to.equal(1);
    expect((await muster.mailbox.update({ mailboxId, backlogLimit: 5 })).backlogLimit).to.equal(5);
    expect((await muster.mailbox.view({ mailboxId })).counts.ready).to.equal(1);
    const { id: bulkId, state } = await muster.mailbox.bulk({ mailboxId, action: 'PURGE' });
    expect(state).to.equal('RUNNING');
    await world.service.due.drain(world.org, '*');
    expect(await muster.bulk.view({ bulkId, waitSeconds: 30 })).to.include({ state: 'DONE', done: 1 });
    expect((await muster.bulk.list({ mailboxId })).bulks).to.have.length(1);
    expect((await muster.mailbox.errors({ mailboxId })).errors).to.deep.equal([]);
    expect(await muster.mailbox.delete({ mailboxId })).to.equal(undefined);
  });

  it('schedules messages', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: 'reports' });
    const timing = { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' };
    const { id: scheduleId } = await muster.schedule.create({ name: 'r', mailboxId, scopeId, payload: 1, ...timing });
    expect((await muster.schedule.update({ scheduleId, state: 'PAUSED' })).nextAt).to.equal(null);
    const { lastMessageId } = await muster.schedule.trigger({ scheduleId });
    expect((await muster.message.list({ mailboxId })).messages[0]?.id).to.equal(lastMessageId);
    expect((await muster.schedule.list({})).schedules).to.have.length(1);
    expect((await muster.schedule.view({ scheduleId })).state).to.equal('PAUSED');
    expect(await muster.schedule.delete({ scheduleId })).to.equal(undefined);
  });

  it('reserves, settles and voids', async () => {
    const { id: budgetId } = await muster.budget.create({
      name: 'tokens',
      currency: 'EUR',
      scale: 2,
      limitMinor: '100',
    });
    const reservation = await muster.budget.reserve({
      budgetId,
      scopeId,
      holder: 'agent',
      amountMinor: '80',
      settleBy: inAnHour(),
    });
    const short = await failure(muster.budget.reserve({ budgetId, scopeId, holder: 'agent', amountMinor: '21' }));
    expect(short.code).to.equal('INSUFFICIENT_BUDGET');
    await muster.budget.settle({ budgetId, reservationId: reservation.id, amountMinor: '30', workKey: 'w' });
    const voided = await muster.budget.void({ budgetId, reservationId: reservation.id, workKey: 'w' });
    expect(voided.entry.amountMinor).to.equal('50');
    const { balances } = await muster.budget.view({ budgetId });
    expect(balances).to.deep.equal({ limit: '100', reserved: '0', settled: '30', available: '70', overdrawn: '0' });
  });

  it('decides a group', async () => {
    const { id: mailboxId } = await muster.mailbox.create({ name: 'members' });
    const { groupId } = await muster.group.create({ mailboxId, condition: 'N_ACCEPTED', threshold: 1 });
    const { taskId } = await muster.task.submit({ groupId, taskKey: 'one', input: { n: 1 } });
    const { scopeId: gate } = await muster.group.view({ groupId });
    expect((await muster.group.seal({ groupId })).state).to.equal('SEALED');
    const claim = await muster.message.recv({ mailboxId, scopeId: gate, holder: 'agent', holderSession: 's' });
    if (!claim) throw new Error('nothing was ready');
    await muster.message.complete({ messageId: claim.id, token: claim.token });
    expect((await muster.task.accept({ groupId, taskId })).outcome).to.equal('SATISFIED');
    expect((await failure(muster.task.reject({ groupId, taskId }))).code).to.equal('VERDICT_CONFLICT');
  });

  it('meets at a barrier, twice', async () => {
    const { id: barrierId } = await muster.barrier.create({ scopeId, target: 2 });
    await muster.barrier.arrive({ barrierId, arrivalKey: 'a' });
    expect((await muster.barrier.arrive({ barrierId, arrivalKey: 'b' })).state).to.equal('RELEASED');
    expect((await muster.barrier.nextEpoch({ barrierId })).epoch).to.equal(2);
    expect((await muster.barrier.cancel({ barrierId })).state).to.equal('CANCELLED');
  });

  it('consumes, waits and cools down', async () => {
    const { id: allowanceId } = await muster.allowance.create({
      name: 'api',
      unitsLimit: 1,
      windowSeconds: 31_536_000,
    });
    await muster.allowance.consume({ allowanceId, scopeId, units: 1, holder: 'agent' });
    const none = await failure(muster.allowance.consume({ allowanceId, scopeId, units: 1, holder: 'agent' }));
    expect([none.code, none.status]).to.deep.equal(['ALLOWANCE_EXHAUSTED', 429]);
    expect(none.retryAfterSeconds).to.be.greaterThan(60);
    const { waiterId } = await muster.allowance.wait({ allowanceId, scopeId, units: 1, holder: 'agent' });
    expect((await muster.waiter.cancel({ waiterId })).state).to.equal('CANCELLED');
    const { cooldownUntil } = await muster.allowance.cooldown({ allowanceId, seconds: 5, reason: 'busy' });
    expect((await muster.allowance.view({ allowanceId })).cooldownUntil).to.equal(cooldownUntil);
  });

  it('reads the journal, the limits and the diagnostics', async () => {
    const { events, nextCursor } = await muster.event.list({ limit: 500 });
    expect(events.map(({ type }) => type)).to.include.members(['message.sent', 'budget.settled', 'group.decided']);
    expect((await muster.event.watch({ cursor: nextCursor, types: 'message.*' })).events).to.deep.equal([]);
    expect((await muster.limits.put({ maxBacklog: 7 })).maxBacklog).to.equal(7);
    expect((await muster.limits.get()).maxBacklog).to.equal(7);
    expect((await muster.census.get()).messages.ACKED).to.equal(2);
    expect((await muster.waits.get()).heldClaims).to.deep.equal([]);
    expect((await muster.run.view({ scopeId })).consumptions).to.deep.equal({ count: 1, units: 1 });
    expect((await muster.space.list({ limit: 5 })).spaces.map(({ id }) => id)).to.deep.equal([world.spaceId]);
  });

  it('creates, lists and revokes API keys, which belong to no space', async () => {
    const made = await muster.key.create({ permissions: ['coordination_read'], name: 'reader', holder: 'agent' });
    expect(made.apiKey).to.match(/^mk_/);
    const reader = createMuster({ url: world.url, key: made.apiKey ?? '', spaceId: world.spaceId });
    expect((await reader.census.get()).messages.ACKED).to.equal(2);
    const [newest] = (await muster.key.list({ limit: 1 })).keys;
    expect(newest).to.deep.include({ id: made.id, name: 'reader', holder: 'agent', revokedAt: null });
    const all: string[] = [];
    for await (const { id } of muster.key.all()) all.push(id);
    expect(all).to.have.length(2);
    expect(await muster.key.revoke({ keyId: made.id })).to.equal(undefined);
    const gone = await failure(reader.census.get());
    expect([gone.code, gone.status]).to.deep.equal(['INVALID_API_KEY', 401]);
  });

  it('keeps a webhook destination and deletes it', async () => {
    const { id: destinationId } = await muster.destination.create({ url: 'https://127.0.0.1:9/hook' });
    await muster.destination.update({ destinationId, eventTypes: ['budget.*'] });
    expect(await muster.destination.delete({ destinationId })).to.equal(undefined);
    const gone = await failure(muster.destination.view({ destinationId }));
    expect([gone.code, gone.status]).to.deep.equal(['DESTINATION_NOT_FOUND', 404]);
  });
});
