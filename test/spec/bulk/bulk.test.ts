import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { callArgs } from '../../../src/engine/route/args.ts';
import { bulkStep } from '../../../src/primitives/bulk/work.ts';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply, World } from '../../support/world.ts';
import { Team } from '../group/team.ts';
import { Queue } from '../mailbox/queue.ts';
import { Aging, day } from '../retention/support.ts';

/** Does all background work that is due. */
const work = ({ service, org }: World): Promise<unknown> => service.due.drain(org, '*');

/** Sends messages that one attempt fails. */
async function failed(queue: Queue, number: number, fields: object = {}): Promise<string[]> {
  const ids = await Promise.all(Array.from({ length: number }, () => queue.sent({ maxAttempts: 1, ...fields })));
  const claims = await Promise.all(ids.map(() => queue.claim(fields)));
  await Promise.all(claims.map((claim) => queue.act('nack', claim, { retry: true, error: 'no' })));
  return ids;
}

/** Makes one step, as a worker does that dies after it. Resolves with whether there is more to do now. */
async function step({ service, org, spaceId }: World, { id: bulkId }: { id: string }): Promise<boolean> {
  const args = { ...callArgs, callName: 'bulk.step', spaceId, bulkId, requestId: 'r', pauseMs: 10_000 };
  return (await service.scripts.request(bulkStep, org, args)).goesOn;
}

// biome-ignore lint/suspicious/noExplicitAny: as in Reply.
const view = async (world: World, { id }: { id: string }): Promise<any> => (await world.get(`/bulk/${id}`)).body;

const requeues = async (world: World): Promise<number> => (await world.get('/census')).body.events['message.requeued'];

describe('POST /mailboxes/{id}/bulk', () => {
  it('answers 202 with RUNNING work, which workers finish: REQUEUE brings back all that failed', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    await failed(queue, 90);
    const reply = await world.post(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    expect(reply.status, reply.text).to.equal(202);
    expect(reply.body).to.include({ mailboxId: queue.id, scopeId: null, action: 'REQUEUE', messageState: 'FAILED' });
    expect(reply.body).to.deep.include({ state: 'RUNNING', done: 0, passedOver: {}, waitsFor: null, finishedAt: null });
    expect(await view(world, reply.body)).to.deep.equal(reply.body);
    const waited = world.get(`/bulk/${reply.body.id}?waitSeconds=30`);
    await work(world);
    const { body } = await waited;
    expect(body).to.deep.include({ state: 'DONE', done: 90, passedOver: {} });
    expect(body.finishedAt).to.match(/Z$/);
    expect(await queue.counts()).to.deep.equal({ ready: 90 });
    await expectAgreement(world);
  });

  it('takes what had ended when it began: what fails again, or fails meanwhile, is not brought back', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const now = Date.now();
    await world.at(now);
    const late = await queue.sent({ maxAttempts: 1 });
    const claim = await queue.claim();
    await failed(queue, 100);
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    await world.at(now + 1);
    await queue.act('nack', claim, { retry: true });
    expect(await step(world, bulk)).to.equal(true);
    const { done } = await view(world, bulk);
    expect(done).to.be.within(1, 40);
    for (let n = 0; n < done; n++) await queue.act('nack', await queue.claim(), { retry: true });
    await world.at(now + 10_001);
    await work(world);
    expect(await view(world, bulk)).to.deep.include({ state: 'DONE', done: 100 });
    // Their attempts began anew, so most of those that failed again are ready.
    expect((await queue.message(late)).state).to.equal('FAILED');
    expect(await requeues(world)).to.equal(100);
    await expectAgreement(world);
  });

  it('PURGE cancels what waited when it began, and neither claims nor what is sent after that', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const now = Date.now();
    await world.at(now);
    await queue.sent();
    await queue.claim();
    for (const delaySeconds of [0, 60]) for (let n = 0; n < 30; n++) await queue.sent({ delaySeconds });
    const [, after] = (await queue.list()).body.messages;
    for (let n = 0; n < 30; n++) await queue.sent({ after: [{ messageId: after.id }], onFailure: 'RUN' });
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'PURGE' });
    await world.at(now + 1);
    await queue.sent();
    await work(world);
    expect(await view(world, bulk)).to.deep.include({ state: 'DONE', done: 90, messageState: null });
    expect(await queue.counts()).to.deep.equal({ ready: 1, claimed: 1 });
    await expectAgreement(world);
  });

  it('takes the messages of one state: FAILED by default, or the one that is named', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    await failed(queue, 2);
    const rejected = await queue.sent();
    await queue.act('nack', await queue.claim(), { retry: false });
    await queue.sent({ delaySeconds: 60 });
    await queue.sent();
    const start = (body: object): Promise<Reply> => world.post(`/mailboxes/${queue.id}/bulk`, body);
    const bulk = (await start({ action: 'REQUEUE', state: 'REJECTED' })).body;
    await work(world);
    expect([(await view(world, bulk)).done, (await queue.message(rejected)).state]).to.deep.equal([1, 'READY']);
    const { body } = await start({ action: 'PURGE', state: 'DELAYED' });
    await work(world);
    expect((await view(world, body)).done).to.equal(1);
    expect(await queue.counts()).to.deep.equal({ ready: 2, failed: 2 });
    for (const wrong of [{ action: 'REQUEUE', state: 'READY' }, { action: 'PURGE', state: 'FAILED' }, {}])
      expect(codeOf(await start(wrong))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await world.post(`/mailboxes/${randomUUID()}/bulk`, { action: 'PURGE' }))).to.equal(
      '404 MAILBOX_NOT_FOUND',
    );
  });

  it('counts what may not be requeued by the code of the error', async () => {
    const team = await Team.create();
    const { queue } = team;
    const { world } = queue;
    const [done] = await team.succeeded(1);
    await team.submit('late', { maxAttempts: 1 });
    await queue.act('nack', await queue.claim({ scopeId: team.gate }), { retry: true });
    await team.accept(String(done));
    const stopped = randomUUID();
    await failed(queue, 2, { scopeId: stopped });
    await world.mustPost(`/scopes/${stopped}/cancel`);
    // More than a step changes.
    await failed(queue, 60);
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    await work(world);
    const passedOver = { GROUP_DECIDED: 1, SCOPE_CANCELLED: 2 };
    expect(await view(world, bulk)).to.deep.include({ state: 'DONE', done: 60, passedOver });
  });

  it('waits while a limit leaves no room, and says which; after a day of that it is CANCELLED', async () => {
    const queue = await Queue.create({ backlogLimit: 3 });
    const { world } = queue;
    const now = Date.now();
    await world.at(now);
    for (let n = 0; n < 4; n++) await failed(queue, 1);
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    await work(world);
    expect(await view(world, bulk)).to.include({ state: 'RUNNING', done: 3, waitsFor: 'BACKLOG_FULL' });
    await queue.act('complete', await queue.claim());
    await world.at(now + 1000);
    await work(world);
    expect(await view(world, bulk)).to.include({ state: 'DONE', done: 4, waitsFor: null });
    // The first is passed over, once, and there is no room for the second.
    await queue.act('complete', await queue.claim());
    const stopped = randomUUID();
    for (const scopeId of [stopped, randomUUID()]) {
      await queue.sent({ scopeId });
      await queue.act('nack', await queue.claim({ scopeId }), { retry: false });
    }
    await world.mustPost(`/scopes/${stopped}/cancel`);
    await queue.sent();
    const other = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE', state: 'REJECTED' });
    await work(world);
    const passedOver = { SCOPE_CANCELLED: 1 };
    expect(await view(world, other)).to.deep.include({ state: 'RUNNING', passedOver, waitsFor: 'BACKLOG_FULL' });
    await world.at(now + 1000 + day);
    await work(world);
    const given = { state: 'CANCELLED', done: 0, passedOver, waitsFor: null };
    expect(await view(world, other)).to.deep.include(given);
    await expectAgreement(world);
  });

  it('needs a timer only for a message whose deadline lies ahead', async () => {
    const world = await World.create({ limits: { maxArmedTimers: 1 } });
    const queue = await Queue.create({}, world);
    const late = await queue.sent({ maxAttempts: 1, deadline: '2099-01-01T00:00:00Z' });
    await queue.act('nack', await queue.claim(), { retry: true });
    const start = () => world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    const first = await start();
    await work(world);
    expect(await view(world, first)).to.include({ state: 'DONE', done: 1 });
    // Its deadline is the only timer of the space now.
    await failed(queue, 1, { scopeId: randomUUID() });
    const second = await start();
    await work(world);
    expect(await view(world, second)).to.include({ state: 'DONE', done: 1 });
    await world.mustPost(`/messages/${late}/cancel`);
    await queue.sent({ delaySeconds: 60 });
    const third = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE', state: 'CANCELLED' });
    await work(world);
    expect(await view(world, third)).to.include({ state: 'RUNNING', done: 0, waitsFor: 'TIMERS_FULL' });
  });

  it('brings back packed messages, and passes over those that the store has damaged', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const now = Math.ceil(Date.now() / day) * day;
    await world.at(now);
    await failed(queue, 25);
    await world.at(now + 1000);
    const { service, org, spaceId, prefix } = world;
    const how = { sealAfterMs: 0, isAll: true, size: 10, patienceMs: 0 };
    await service.packing.packMessages(org, spaceId, undefined, how);
    const [entry = ''] = await service.store.zrange(`${prefix}:messageSegments`, '0', '0');
    await service.store.set(`${prefix}:messageSegment:${entry.split(' ')[2]}`, 'garbage');
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    await work(world);
    const passedOver = { MESSAGES_DAMAGED: 10 };
    expect(await view(world, bulk)).to.deep.include({ state: 'DONE', done: 15, passedOver });
    expect((await queue.counts())['ready']).to.equal(15);
  });

  it('is CANCELLED once its mailbox has been deleted', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    await failed(queue, 3);
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    await world.call('DELETE', `/mailboxes/${queue.id}`);
    await work(world);
    expect(await view(world, bulk)).to.include({ state: 'CANCELLED', done: 0 });
  });
});

describe('POST /scopes/{id}/bulk', () => {
  it('takes the messages of the scope and of all below it, in all mailboxes, and of no other run', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const other = await Queue.create({ name: 'other' }, world);
    const run = randomUUID();
    const scopes = [run];
    for (let n = 0; n < 3; n++) {
      const { id } = await world.mustPost('/scopes', { parentScopeId: scopes.at(-1) });
      scopes.push(id, (await world.mustPost('/scopes', { parentScopeId: run })).id);
    }
    for (const scopeId of scopes) {
      await failed(queue, 2, { scopeId });
      await failed(other, 20, { scopeId });
    }
    await failed(queue, 5);
    const bulk = await world.mustPost(`/scopes/${run}/bulk`, { action: 'REQUEUE' });
    expect(bulk).to.include({ scopeId: run, mailboxId: null });
    await work(world);
    expect(await view(world, bulk)).to.include({ state: 'DONE', done: 154 });
    expect([await queue.counts(), await other.counts()]).to.deep.equal([{ ready: 14, failed: 5 }, { ready: 140 }]);
    const purge = await world.mustPost(`/scopes/${run}/bulk`, { action: 'PURGE' });
    await work(world);
    expect(await view(world, purge)).to.include({ state: 'DONE', done: 154 });
    expect((await world.get(`/ops/runs/${run}`)).body.bulks).to.deep.equal([
      await view(world, purge),
      await view(world, bulk),
    ]);
    expect(codeOf(await world.post(`/scopes/${randomUUID()}/bulk`, { action: 'PURGE' }))).to.equal(
      '404 SCOPE_NOT_FOUND',
    );
    await expectAgreement(world);
  });

  it('passes over messages of a mailbox that was deleted, and the tombstones of tasks', async () => {
    const queue = await Queue.create();
    const { world, scopeId } = queue;
    const gone = await Queue.create({ name: 'gone' }, world);
    await failed(gone, 2, { scopeId });
    await world.call('DELETE', `/mailboxes/${gone.id}`);
    await failed(queue, 2);
    await world.mustPost(`/mailboxes/${queue.id}/purge`, { finished: true });
    await failed(queue, 1);
    const bulk = await world.mustPost(`/scopes/${scopeId}/bulk`, { action: 'REQUEUE' });
    await work(world);
    const passedOver = { MAILBOX_NOT_FOUND: 2 };
    expect(await view(world, bulk)).to.deep.include({ state: 'DONE', done: 1, passedOver });
  });

  it('begins anew, and does nothing twice, if the scope that it has come to is gone', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const run = randomUUID();
    const { id: child } = await world.mustPost('/scopes', { parentScopeId: run });
    const now = Date.now();
    await world.at(now);
    await failed(queue, 60, { scopeId: child });
    await failed(queue, 10, { scopeId: run });
    const bulk = await world.mustPost(`/scopes/${run}/bulk`, { action: 'REQUEUE' });
    await step(world, bulk);
    await world.service.store.hset(`${world.prefix}:bulk:${bulk.id}`, 'walk', randomUUID());
    await world.at(now + 10_000);
    await work(world);
    expect(await view(world, bulk)).to.include({ state: 'DONE', done: 70 });
    expect(await requeues(world)).to.equal(70);
  });
});

describe('Bulk work', () => {
  it('goes on after a worker that died, and handles nothing twice however many work at it at once', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const now = Date.now();
    await world.at(now);
    await failed(queue, 300);
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    // Its worker has taken the timer, and makes one step.
    await step(world, bulk);
    await world.at(now + 10_000);
    await Promise.all([work(world), ...Array.from({ length: 200 }, () => step(world, bulk))]);
    expect(await view(world, bulk)).to.deep.include({ state: 'DONE', done: 300, passedOver: {} });
    expect(await requeues(world)).to.equal(300);
    const { events } = (await world.get(`/watch?types=bulk.ended&since=${bulk.createdAt}`)).body;
    expect(events).to.have.length(1);
    await expectAgreement(world);
  });

  it('changes at most 40 messages in a step, and looks at most at 300', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    for (let n = 0; n < 10; n++) {
      await Promise.all(Array.from({ length: 40 }, () => queue.sent()));
      await world.mustPost(`/mailboxes/${queue.id}/purge`, {});
    }
    await Promise.all(Array.from({ length: 100 }, () => queue.sent()));
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'PURGE' });
    const done: number[] = [];
    for (let goesOn = true; goesOn; ) {
      goesOn = await step(world, bulk);
      done.push((await view(world, bulk)).done);
    }
    // 300 ended ones, then 100 and the first that waited.
    expect(done).to.deep.equal([0, 40, 80, 100]);
  });

  it('is cancelled: what it has done stays, the rest is left alone, and a repeat changes nothing', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    await failed(queue, 100);
    const bulk = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'REQUEUE' });
    await step(world, bulk);
    const reply = await world.post(`/bulk/${bulk.id}/cancel`);
    expect(reply.body).to.include({ state: 'CANCELLED', done: 40 });
    await work(world);
    expect((await world.post(`/bulk/${bulk.id}/cancel`)).body).to.deep.equal(reply.body);
    expect(await view(world, bulk)).to.deep.equal(reply.body);
    expect(await queue.counts()).to.deep.equal({ ready: 40, failed: 60 });
    expect(codeOf(await world.post(`/bulk/${randomUUID()}/cancel`))).to.equal('404 BULK_NOT_FOUND');
    await expectAgreement(world);
  });

  it('begins once for 200 requests at once with one Idempotency-Key, and at most 10 run in a space', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    const start = (headers?: Record<string, string>): Promise<Reply> =>
      world.post(`/mailboxes/${queue.id}/bulk`, { action: 'PURGE' }, headers);
    const replies = await Promise.all(Array.from({ length: 200 }, () => start({ 'Idempotency-Key': 'once' })));
    expect(new Set(replies.map(({ body }) => body.id)).size).to.equal(1);
    const codes = (await Promise.all(Array.from({ length: 200 }, () => start()))).map(codeOf);
    expect(codes.filter((code) => code.startsWith('202'))).to.have.length(9);
    expect(codes.filter((code) => code === '409 BULKS_FULL')).to.have.length(191);
    expect((await world.get('/census')).body.bulks).to.deep.equal({ RUNNING: 10, DONE: 0, CANCELLED: 0 });
    await work(world);
    expect((await world.get('/census')).body.bulks).to.deep.equal({ RUNNING: 0, DONE: 10, CANCELLED: 0 });
    expect((await start()).status).to.equal(202);
  });

  it('is listed newest first, by state, mailbox and scope', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    await queue.sent();
    const other = await Queue.create({ name: 'other' }, world);
    const first = await world.mustPost(`/mailboxes/${queue.id}/bulk`, { action: 'PURGE' });
    await work(world);
    const second = await world.mustPost(`/mailboxes/${other.id}/bulk`, { action: 'PURGE' });
    const third = await world.mustPost(`/scopes/${queue.scopeId}/bulk`, { action: 'REQUEUE' });
    const listed = async (query: string): Promise<string[]> =>
      (await world.get(`/bulk${query}`)).body.bulks.map(({ id }: { id: string }) => id);
    expect(await listed('')).to.deep.equal([third.id, second.id, first.id]);
    expect(await listed('?state=RUNNING')).to.deep.equal([third.id, second.id]);
    expect(await listed(`?mailboxId=${queue.id}`)).to.deep.equal([first.id]);
    expect(await listed(`?scopeId=${queue.scopeId}&state=RUNNING,DONE`)).to.deep.equal([third.id]);
    const page = (await world.get('/bulk?limit=2')).body;
    expect(await listed(`?limit=2&cursor=${page.nextCursor}`)).to.deep.equal([first.id]);
  });

  it('names its caller in its events and in those of the messages, with the id of the request', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    await failed(queue, 1);
    const headers = { 'X-Request-Id': 'the-request' };
    const bulk = (await world.post(`/scopes/${queue.scopeId}/bulk`, { action: 'REQUEUE' }, headers)).body;
    await work(world);
    const { events } = (await world.get('/events?limit=100')).body;
    const actor = await world.keyId();
    for (const type of ['bulk.started', 'message.requeued', 'bulk.ended']) {
      const event = events.find((one: { type: string }) => one.type === type);
      expect([event.requestId, event.payload.actor, event.scopeId], type).to.deep.equal([
        'the-request',
        actor,
        queue.scopeId,
      ]);
    }
    expect(events.at(-1).payload).to.include({ bulkId: bulk.id, action: 'REQUEUE', state: 'DONE', done: 1 });
  });

  it('is out of reach for keys that are limited to other mailboxes', async () => {
    const queue = await Queue.create();
    const { world } = queue;
    await queue.sent();
    const other = await Queue.create({ name: 'other' }, world);
    const key = await world.key(['coordination_read', 'coordination_write'], undefined, { mailboxes: [queue.id] });
    const headers = { Authorization: `Bearer ${key}` };
    const as = (method: string, path: string, body?: object): Promise<Reply> => world.call(method, path, body, headers);
    const [own, theirs] = [
      await as('POST', `/mailboxes/${queue.id}/bulk`, { action: 'PURGE' }),
      await world.post(`/mailboxes/${other.id}/bulk`, { action: 'PURGE' }),
    ];
    const ofRun = await world.mustPost(`/scopes/${queue.scopeId}/bulk`, { action: 'PURGE' });
    expect(own.status).to.equal(202);
    expect((await as('GET', `/bulk?mailboxId=${queue.id}`)).body.bulks).to.have.length(1);
    expect((await as('POST', `/bulk/${own.body.id}/cancel`)).body.state).to.equal('CANCELLED');
    for (const [method, path] of [
      ['POST', `/mailboxes/${other.id}/bulk`],
      ['POST', `/scopes/${queue.scopeId}/bulk`],
      ['GET', `/bulk/${theirs.body.id}`],
      ['POST', `/bulk/${theirs.body.id}/cancel`],
      ['GET', `/bulk/${ofRun.id}`],
      ['GET', '/bulk'],
    ] as const)
      expect(codeOf(await as(method, path, method === 'POST' ? { action: 'PURGE' } : undefined)), path).to.match(
        /^(403 PERMISSION_DENIED|400 VALIDATION_FAILED)$/,
      );
  });

  it('is removed 30 days after its end, and keeps its scope until then', async () => {
    const aging = await Aging.begin();
    const { world } = aging;
    const scopeId = (await world.mustPost('/scopes', {})).id;
    const bulk = await world.mustPost(`/scopes/${scopeId}/bulk`, { action: 'PURGE' });
    await work(world);
    await aging.sweepAt(29 * day);
    expect((await view(world, bulk)).state).to.equal('DONE');
    expect((await world.get(`/scopes/${scopeId}`)).status).to.equal(200);
    await aging.sweepAt(31 * day);
    expect((await world.get(`/bulk/${bulk.id}`)).status).to.equal(404);
    await aging.sweepAt(62 * day);
    expect((await world.get(`/scopes/${scopeId}`)).status).to.equal(404);
    await expectAgreement(world);
  });
});
