import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('POST /mailboxes/{id}/messages', () => {
  it('answers 201 with id, mailboxId, state READY and replay false, and emits scope.created and message.sent', async () => {
    const queue = await Queue.create();
    const now = Date.now();
    await queue.world.at(now);
    const reply = await queue.send({
      payload: { a: [] },
      workKey: 'k',
      deadline: new Date(now + 60_000).toISOString(),
    });
    expect(reply.status).to.equal(201);
    const { id } = reply.body;
    expect(reply.body).to.deep.equal({ id, mailboxId: queue.id, state: 'READY', replay: false });
    const listed = await queue.list();
    expect(listed.body.messages).to.deep.equal([
      {
        id,
        mailboxId: queue.id,
        scopeId: queue.scopeId,
        taskId: id,
        groupId: null,
        taskKey: null,
        state: 'READY',
        reason: null,
        attempts: 0,
        maxAttempts: 5,
        retryDelaySeconds: null,
        maxRetryDelaySeconds: null,
        attemptSeconds: null,
        attemptEndsAt: null,
        suspension: null,
        lastError: null,
        progress: null,
        readyAt: null,
        workKey: 'k',
        traceparent: null,
        tracestate: null,
        priority: 0,
        key: null,
        after: [],
        onFailure: null,
        requires: null,
        blockedBy: [],
        holds: [],
        consumptions: [],
        question: null,
        payload: { a: [] },
        deadline: new Date(now + 60_000).toISOString(),
        holder: null,
        holderSession: null,
        claimedAt: null,
        leaseExpiresAt: null,
        result: null,
        createdAt: new Date(now).toISOString(),
        finishedAt: null,
      },
    ]);
    const { events } = (await queue.world.get('/events')).body;
    expect(events.slice(1).map(({ type }: { type: string }) => type)).to.deep.equal(['scope.created', 'message.sent']);
    expect(events[1].payload).to.deep.equal({ scopeId: queue.scopeId, parentScopeId: null });
    expect(events[2]).to.include({ aggregate: 'message', aggregateId: id, scopeId: queue.scopeId });
    expect(events[2].payload).to.deep.equal({
      messageId: id,
      scopeId: queue.scopeId,
      mailboxId: queue.id,
      taskId: id,
      state: 'READY',
      attempts: 0,
    });
  });

  it('creates a scope once for any uuid, in either case', async () => {
    const queue = await Queue.create();
    const scopeId = '00000000-0000-0000-0000-00000000000A';
    await queue.sent({ scopeId });
    await queue.sent({ scopeId: scopeId.toLowerCase() });
    expect((await queue.world.eventTypes()).filter((type) => type === 'scope.created')).to.have.lengthOf(1);
    expect((await queue.claim({ scopeId })).scopeId).to.equal(scopeId.toLowerCase());
  });

  it('replays a known workKey: 200 replay:true with the first message and its present state, whatever else differs', async () => {
    const queue = await Queue.create();
    const id = await queue.sent({ workKey: 'k', payload: 'first' });
    const claim = await queue.claim();
    const other = {
      workKey: 'k',
      payload: 'x'.repeat(70_000),
      scopeId: randomUUID(),
      deadline: '2001-01-01T00:00:00Z',
    };
    const again = await queue.send(other);
    expect([again.status, again.body]).to.deep.equal([
      200,
      { id, mailboxId: queue.id, state: 'CLAIMED', replay: true },
    ]);
    await queue.act('complete', claim);
    expect((await queue.send({ workKey: 'k' })).body).to.include({ id, state: 'ACKED', replay: true });
    expect((await queue.eventTypes()).filter((type) => type === 'message.sent')).to.have.lengthOf(1);
    const second = await Queue.create({}, queue.world);
    expect((await second.send({ workKey: 'k' })).status, 'keys are the mailbox’s own').to.equal(201);
  });

  it('takes no place in the backlog for a replay: of 50 sends with one workKey one creates a message', async () => {
    const queue = await Queue.create({ backlogLimit: 1 });
    const replies = await Promise.all(Array.from({ length: 50 }, () => queue.send({ workKey: 'k' })));
    expect(replies.filter(({ status }) => status === 201)).to.have.lengthOf(1);
    expect(new Set(replies.map(({ body }) => body.id)).size).to.equal(1);
    expect((await queue.record()).counts.ready).to.equal(1);
  });

  it('requires deadlines in the future, and accepts them up to the year 9999', async () => {
    const queue = await Queue.create();
    const now = Date.now() + 1000;
    await queue.world.at(now);
    const refused = await queue.send({ deadline: new Date(now).toISOString() });
    expect(codeOf(refused)).to.equal('400 VALIDATION_FAILED');
    expect(refused.body.error.message).to.equal('deadline must be in the future');
    for (const deadline of [new Date(now + 1).toISOString(), '9999-12-31T23:59:59.999Z'])
      expect((await queue.message(await queue.sent({ deadline }))).deadline).to.equal(deadline);
  });

  it('is refused with BACKLOG_FULL at backlogLimit READY and CLAIMED messages in the mailbox', async () => {
    const queue = await Queue.create({ backlogLimit: 2 });
    await queue.sent();
    await queue.sent();
    const claim = await queue.claim();
    const full = await queue.send();
    expect(codeOf(full)).to.equal('409 BACKLOG_FULL');
    expect(full.body.error.message).to.match(/backlogLimit of 2 .*: send again once one is finished, or /);
    await (await Queue.create({}, queue.world)).sent();
    await queue.act('complete', claim);
    await queue.sent();
  });

  it('is refused with BACKLOG_FULL at maxBacklog READY and CLAIMED messages in the space', async () => {
    const queue = await Queue.create({}, await World.create({ limits: { maxBacklog: 2 } }));
    const other = await Queue.create({}, queue.world);
    await queue.sent();
    await other.sent();
    await other.claim();
    const full = await queue.send();
    expect(codeOf(full)).to.equal('409 BACKLOG_FULL');
    expect(full.body.error.message).to.match(
      /maxBacklog of 2 .*: send again .*, or raise maxBacklog with PUT \/limits$/,
    );
  });

  it('accepts exactly as many of 200 parallel sends as there is room for', async () => {
    const queue = await Queue.create({ backlogLimit: 70 });
    const replies = await Promise.all(Array.from({ length: 200 }, () => queue.send()));
    expect(replies.filter(({ status }) => status === 201)).to.have.lengthOf(70);
    expect((await queue.record()).counts.ready).to.equal(70);
  });

  it('is refused with TIMERS_FULL at maxArmedTimers deadlines of live messages, if it carries one itself', async () => {
    const queue = await Queue.create({}, await World.create({ limits: { maxArmedTimers: 1 } }));
    const now = Date.now();
    await queue.world.at(now);
    const deadline = new Date(now + 60_000).toISOString();
    await queue.sent({ deadline });
    expect(codeOf(await queue.send({ deadline }))).to.equal('409 TIMERS_FULL');
    await queue.sent();
    await queue.act('complete', await queue.claim());
    await queue.sent({ deadline });
    await queue.world.at(now + 60_000);
    await queue.sent({ deadline: new Date(now + 90_000).toISOString() });
  });

  it('succeeds after the clock was set back: events and audit entries follow the last ones', async () => {
    const queue = await Queue.create();
    const now = Date.now() + 60_000;
    const audited = () => queue.world.service.store.xlen(`muster:{${queue.world.org}}:audit`);
    const before = await audited();
    for (const back of [0, 30_000]) {
      await queue.world.at(now - back);
      await queue.sent();
      expect((await queue.world.call('PUT', '/limits', { maxBacklog: 5 + back })).status).to.equal(200);
    }
    const round = ['message.sent', 'limits.updated'];
    expect((await queue.world.eventTypes()).slice(2)).to.deep.equal([...round, ...round]);
    expect((await audited()) - before).to.equal(2);
  });
});
