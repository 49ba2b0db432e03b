import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { randomTail } from '../../../src/engine/route/args.ts';
import { codeOf, World } from '../../support/world.ts';
import { callArgs } from '../allowance/script.ts';
import { Queue } from './queue.ts';

describe('Mailboxes', () => {
  it('are created by POST /mailboxes: 201 with the record; mode WORK and backlogLimit 1000 by default', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const reply = await world.post('/mailboxes', { name: 'jobs' });
    expect(reply.status).to.equal(201);
    expect(reply.body.id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(reply.body).to.deep.equal({
      id: reply.body.id,
      name: 'jobs',
      mode: 'WORK',
      recipientId: null,
      backlogLimit: 1000,
      maxAttempts: 5,
      perKey: null,
      retryDelaySeconds: 0,
      maxRetryDelaySeconds: 3600,
      attemptSeconds: null,
      progressEvents: false,
      counts: { ready: 0, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 0 },
      oldestReadyAt: null,
      paused: false,
      createdAt: new Date(now).toISOString(),
    });
    const { events } = (await world.get('/events')).body;
    expect(events).to.have.lengthOf(1);
    expect(events[0]).to.include({
      type: 'mailbox.created',
      aggregate: 'mailbox',
      aggregateId: reply.body.id,
      scopeId: null,
    });
    expect(events[0].payload).to.deep.equal({ mailboxId: reply.body.id, mode: 'WORK' });
  });

  it('are listed by GET /mailboxes newest first, in pages, without gaps or repeats while new ones are created', async () => {
    const world = await World.create();
    const created: string[] = [];
    for (let i = 0; i < 5; i++) {
      await world.at(Date.now() + i);
      created.unshift((await world.mustPost('/mailboxes', { name: `m${i}` })).id);
    }
    const first = await world.get('/mailboxes?limit=2');
    await world.at(Date.now() + 100);
    await world.mustPost('/mailboxes', { name: 'late' });
    const second = await world.get(`/mailboxes?limit=2&cursor=${first.body.nextCursor}`);
    const third = await world.get(`/mailboxes?limit=2&cursor=${second.body.nextCursor}`);
    const ids = [first, second, third].flatMap(({ body }) => body.mailboxes.map(({ id }: { id: string }) => id));
    expect(ids).to.deep.equal(created);
    expect(third.body.nextCursor).to.equal(null);
    const whole = await world.get('/mailboxes?limit=6');
    expect(whole.body.mailboxes).to.have.lengthOf(6);
    expect(whole.body.nextCursor, 'a full last page').to.equal(null);
  });

  it('answer 400 INVALID_CURSOR for a cursor that the list did not issue', async () => {
    const queue = await Queue.create();
    await Promise.all([queue.sent(), queue.sent()]);
    const { nextCursor } = (await queue.list('?limit=1')).body;
    for (const cursor of ['x', '%00', `${'a'.repeat(500)}`, nextCursor, `${nextCursor}=`, 'latest']) {
      expect(codeOf(await queue.world.get(`/mailboxes?cursor=${cursor}`)), cursor).to.equal('400 INVALID_CURSOR');
    }
    for (const cursor of ['x', `${nextCursor}!`, Buffer.from(randomUUID()).toString('base64url')]) {
      expect(codeOf(await queue.list(`?cursor=${cursor}`)), cursor).to.equal('400 INVALID_CURSOR');
    }
    const other = await Queue.create({}, queue.world);
    await Promise.all([other.sent(), other.sent()]);
    const filtered = (await queue.list(`?limit=1&state=READY&scopeId=${queue.scopeId}`)).body.nextCursor;
    const others = [
      (await other.list('?limit=1')).body.nextCursor,
      (await queue.world.get('/mailboxes?limit=1')).body.nextCursor,
      filtered,
    ];
    for (const cursor of others) expect(codeOf(await queue.list(`?cursor=${cursor}`))).to.equal('400 INVALID_CURSOR');
    const budgets = await queue.world.get(`/budgets?cursor=${others[1]}`);
    expect(codeOf(budgets)).to.equal('400 INVALID_CURSOR');
    const rest = await queue.list(`?cursor=${filtered}&scopeId=${queue.scopeId.toUpperCase()}&state=READY&limit=9`);
    expect(rest.body.messages).to.have.lengthOf(1);
  });

  it('count READY, CLAIMED and FAILED messages, and show since when the oldest has been ready', async () => {
    const queue = await Queue.create();
    const start = Date.now();
    const iso = (seconds: number) => new Date(start + seconds * 1000).toISOString();
    for (const seconds of [0, 5, 10]) {
      await queue.world.at(start + seconds * 1000);
      await queue.sent({ scopeId: randomUUID(), workKey: `${seconds}` });
    }
    const scopeOf = async (key: string) => (await queue.list(`?workKey=${key}`)).body.messages[0].scopeId;
    expect(await queue.record()).to.deep.include({
      counts: { ready: 3, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 0 },
      oldestReadyAt: iso(0),
    });
    const claim = await queue.claim({ scopeId: await scopeOf('0') });
    expect(await queue.record()).to.deep.include({
      counts: { ready: 2, delayed: 0, blocked: 0, claimed: 1, failed: 0, acked: 0 },
      oldestReadyAt: iso(5),
    });
    await queue.act('nack', claim, { retry: true });
    expect((await queue.record()).oldestReadyAt).to.equal(iso(5));
    await queue.act('complete', await queue.claim({ scopeId: await scopeOf('5') }));
    expect(await queue.record()).to.deep.include({
      counts: { ready: 2, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 1 },
      oldestReadyAt: iso(10),
    });
    const [ten, zero] = [await scopeOf('10'), await scopeOf('0')];
    for (const scopeId of [ten, zero]) await queue.claim({ scopeId, leaseSeconds: scopeId === ten ? 31 : 30 });
    expect((await queue.record()).oldestReadyAt).to.equal(null);
    // Sent after these leases ended, but swept for just before they did.
    const { service, org } = queue.world;
    const late = {
      ...callArgs(queue.world),
      mailboxId: queue.id,
      payload: '1',
      workKey: '',
      deadline: '',
      delaySeconds: '',
      maxAttempts: '',
      prerequisites: '',
      sweptThrough: start + 39_999,
    };
    for (const scopeId of [ten, zero]) {
      await queue.world.at(start + (scopeId === ten ? 42_000 : 44_000));
      await service.scripts.execute('mailbox/send', org, { ...late, scopeId, tail: randomTail() });
    }
    await queue.act('renew', claim);
    expect(await queue.record()).to.deep.include({
      counts: { ready: 4, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 1 },
      oldestReadyAt: iso(40),
    });
  });

  it('keep oldestReadyAt right as messages come and go, in the backlog, too', async () => {
    const queue = await Queue.create();
    const other = await Queue.create({}, queue.world);
    const start = Math.ceil(Date.now() / 1000) * 1000;
    const at = (seconds: number) => queue.world.at(start + seconds * 1000);
    const [a, b, c, d] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const oldest = async () => {
      const { oldestReadyAt } = await queue.record();
      const { oldestReadyAgeSeconds } = (await queue.world.get('/backlog')).body;
      return [(Date.parse(oldestReadyAt) - start) / 1000, oldestReadyAgeSeconds];
    };
    const sends = [
      [0, queue, a],
      [0.3, queue, a],
      [5, queue, b],
      [6, other, a],
      [7, queue, a],
      [8, queue, c],
      [8.5, queue, d],
      [8.6, queue, c],
    ] as const;
    for (const [seconds, one, scopeId] of sends) {
      await at(seconds);
      await one.sent({ scopeId });
    }
    expect(await oldest()).to.deep.equal([0, 8]);
    await queue.claim({ scopeId: a, leaseSeconds: 5 });
    expect(await oldest()).to.deep.equal([0.3, 8]);
    await queue.claim({ scopeId: a });
    expect(await oldest()).to.deep.equal([5, 3]);
    await queue.claim({ scopeId: b });
    expect(await oldest()).to.deep.equal([7, 2]);
    await at(13);
    expect((await queue.recv()).status, 'a lapsed claim comes back').to.equal(204);
    expect(await oldest()).to.deep.equal([7, 7]);
    await queue.claim({ scopeId: a });
    expect(await oldest()).to.deep.equal([8, 7]);
    await queue.claim({ scopeId: c });
    expect(await oldest(), 'what follows in the scope is of the same second').to.deep.equal([8.5, 7]);
  });

  it('as INBOX carry no tasks; with a recipientId, they accept a recv only from that holder, else RECIPIENT_MISMATCH', async () => {
    const inbox = await Queue.create({ mode: 'INBOX', recipientId: 'ann' });
    expect(await inbox.record()).to.include({ mode: 'INBOX', recipientId: 'ann' });
    expect(codeOf(await inbox.recv({ holder: 'bob' })), 'even when empty').to.equal('409 RECIPIENT_MISMATCH');
    await inbox.sent();
    expect(codeOf(await inbox.recv({ holder: 'bob' }))).to.equal('409 RECIPIENT_MISMATCH');
    const claim = await inbox.claim({ holder: 'ann' });
    expect(claim).to.include({ holder: 'ann', taskId: null, groupId: null, taskKey: null });
    const done = await inbox.act('complete', claim);
    expect(done.body).to.include({ state: 'ACKED', taskId: null, taskState: null });
  });

  it('as INBOX without a recipientId, accept any receiver; on WORK, recipientId has no effect', async () => {
    for (const fields of [{ mode: 'INBOX' }, { mode: 'WORK', recipientId: 'ann' }]) {
      const queue = await Queue.create(fields);
      await queue.sent();
      await queue.claim({ holder: 'bob' });
    }
  });
});
