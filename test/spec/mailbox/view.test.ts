import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from './queue.ts';

describe('GET /messages/{id}', () => {
  it('returns the record as the list has it, with payload and result, in every state', async () => {
    const queue = await Queue.create();
    const payload = { n: 12345678901234567890n.toString(), list: [], none: null };
    const id = await queue.sent({ payload, workKey: 'once' });
    const view = async () => (await queue.world.get(`/messages/${id}`)).body;
    expect(await view()).to.deep.equal(await queue.message(id));
    expect(await view()).to.deep.include({ state: 'READY', payload, workKey: 'once', result: null });
    const claim = await queue.claim();
    const claimed = await view();
    expect(claimed).to.deep.equal(await queue.message(id));
    expect(claimed).to.include({ state: 'CLAIMED', holder: 'worker', leaseExpiresAt: claim.leaseExpiresAt });
    expect(claimed).not.to.have.property('token');
    await queue.act('complete', claim, { result: { payload: { answer: 42 } } });
    expect(await view()).to.deep.include({ state: 'ACKED', result: { answer: 42 }, leaseExpiresAt: null });
  });
});

describe('GET /mailboxes/{id}', () => {
  it('returns the record as the list has it, with its counts and oldestReadyAt', async () => {
    const queue = await Queue.create({ backlogLimit: 7 });
    const view = async () => (await queue.world.get(`/mailboxes/${queue.id}`)).body;
    expect(await view()).to.include({ id: queue.id, name: 'jobs', backlogLimit: 7, oldestReadyAt: null });
    const id = await queue.sent();
    await queue.sent();
    await queue.claim();
    expect(await view()).to.deep.equal(await queue.record());
    expect((await view()).counts).to.deep.equal({ ready: 1, delayed: 0, blocked: 0, claimed: 1, failed: 0, acked: 0 });
    expect((await view()).oldestReadyAt >= (await queue.message(id)).createdAt).to.equal(true);
  });
});

describe('POST /mailboxes with unique', () => {
  it('creates one mailbox per name, then answers 200 with the oldest and changes nothing', async () => {
    const world = await World.create();
    const make = (fields: object = {}) => world.post('/mailboxes', { name: 'jobs', unique: true, ...fields });
    const first = await make({ backlogLimit: 5 });
    expect(first.status).to.equal(201);
    const second = await world.post('/mailboxes', { name: 'jobs', unique: false });
    expect([second.status, second.body.id !== first.body.id]).to.deep.equal([201, true]);
    await world.mustPost(`/mailboxes/${first.body.id}/messages`, { scopeId: randomUUID(), payload: 1 });
    const again = await make({ backlogLimit: 9, mode: 'WORK' });
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal((await world.get(`/mailboxes/${first.body.id}`)).body);
    expect(again.body).to.deep.include({
      backlogLimit: 5,
      mode: 'WORK',
      counts: { ready: 1, delayed: 0, blocked: 0, claimed: 0, failed: 0, acked: 0 },
    });
    expect((await make({ name: 'jobs2' })).status, 'a name that begins with it').to.equal(201);
    expect((await world.eventTypes()).filter((type) => type === 'mailbox.created')).to.have.length(3);
    expect((await world.get('/usage')).body.days.at(-1).byCall['mailbox.create']).to.equal(3);
  });

  it('another mode or recipient than those of the mailbox is refused; other settings are taken as they are', async () => {
    const world = await World.create();
    const make = (name: string, fields: object = {}) => world.post('/mailboxes', { name, unique: true, ...fields });
    const work = (await make('work')).body.id;
    const inbox = (await make('inbox', { mode: 'INBOX', recipientId: 'ann smith' })).body.id;
    const open = (await make('open', { mode: 'INBOX' })).body.id;
    for (const [name, fields, what] of [
      ['work', { mode: 'INBOX' }, `${work} of this name has the mode WORK: leave mode out`],
      ['work', { recipientId: 'ann' }, `${work} of this name has no recipientId: leave recipientId out`],
      ['inbox', { mode: 'WORK', recipientId: 'ann smith' }, `${inbox} of this name has the mode INBOX: leave mode out`],
      ['inbox', { recipientId: 'bob' }, `${inbox} of this name has the recipientId ann smith: leave recipientId out`],
      ['open', { mode: 'INBOX', recipientId: 'bob' }, `${open} of this name has no recipientId: leave recipientId out`],
    ] as const) {
      const reply = await make(name, fields);
      expect(codeOf(reply)).to.equal('409 MAILBOX_CONFLICT');
      expect(reply.body.error.message).to.contain(what);
    }
    for (const [name, fields] of [
      ['inbox', {}],
      ['inbox', { mode: null, recipientId: null }],
      ['inbox', { mode: 'INBOX' }],
      ['inbox', { recipientId: 'ann smith', perKey: 1, maxAttempts: 9, retryDelaySeconds: 7, backlogLimit: 3 }],
      ['work', { mode: 'WORK' }],
    ] as const) {
      const reply = await make(name, fields);
      expect([reply.status, reply.body.id]).to.deep.equal([200, name === 'work' ? work : inbox]);
      expect(reply.body).to.include({ perKey: null, maxAttempts: 5, retryDelaySeconds: 0, backlogLimit: 1000 });
    }
    const calls = [{ call: 'mailbox.create', name: 'work', unique: true, mode: 'INBOX' }];
    const atomic = await world.post('/batch', { atomic: true, calls });
    expect(codeOf(atomic)).to.equal('409 MAILBOX_CONFLICT');
    const key = { 'Idempotency-Key': 'later' };
    expect((await world.post('/mailboxes', { name: 'again', mode: 'INBOX' }, key)).status).to.equal(201);
    const again = await world.post('/mailboxes', { name: 'again', mode: 'INBOX' }, key);
    expect([again.status, again.body.mode]).to.deep.equal([201, 'INBOX']);
    expect((await make('plain')).body.mode).to.equal('WORK');
  });

  it('creates one when many run in parallel, and replays its answer', async () => {
    const world = await World.create();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => world.post('/mailboxes', { name: 'a', unique: true })),
    );
    expect(new Set(replies.map(({ body }) => body.id)).size).to.equal(1);
    expect(replies.filter(({ status }) => status === 201)).to.have.length(1);
    const key = { 'Idempotency-Key': 'k' };
    for (let i = 0; i < 2; i++) {
      const reply = await world.post('/mailboxes', { name: 'a', unique: true }, key);
      expect([reply.status, reply.body.id]).to.deep.equal([200, replies[0]?.body.id]);
      expect(reply.headers.get('idempotent-replayed')).to.equal(i === 1 ? 'true' : null);
    }
  });

  it("goes by a mailbox's present name, and ignores deleted ones", async () => {
    const world = await World.create();
    const make = async (name: string) => (await world.post('/mailboxes', { name, unique: true })).status;
    const { id } = await world.mustPost('/mailboxes', { name: 'old' });
    await world.call('PATCH', `/mailboxes/${id}`, { name: 'new' });
    expect([await make('new'), await make('old')]).to.deep.equal([200, 201]);
    await world.call('DELETE', `/mailboxes/${id}`);
    expect(await make('new')).to.equal(201);
  });

  it("still answers an existing mailbox when the month's operations are used up", async () => {
    const world = await World.create({ plan: 'free' });
    await world.mustPost('/mailboxes', { name: 'a' });
    await world.service.store.hset(`muster:{${world.org}}`, 'usedOperations', '1000000000');
    expect((await world.post('/mailboxes', { name: 'a', unique: true })).status).to.equal(200);
    expect(codeOf(await world.post('/mailboxes', { name: 'b', unique: true }))).to.equal('402 OPERATIONS_EXHAUSTED');
  });
});

describe('the filter by name', () => {
  const names = ['a', 'a ', 'a~', 'ab', 'A', 'é', '😀', 'a b', '*', '"'];

  it('finds exactly the mailboxes of a name, newest first, in pages', async () => {
    const world = await World.create();
    const created: Record<string, string[]> = {};
    for (const name of [...names, ...names, 'a'])
      created[name] = [(await world.mustPost('/mailboxes', { name })).id, ...(created[name] ?? [])];
    const list = async (name: string, more = '') =>
      (await world.get(`/mailboxes?name=${encodeURIComponent(name)}${more}`)).body;
    for (const name of names) {
      const { mailboxes, nextCursor } = await list(name);
      expect(
        mailboxes.map(({ id }: { id: string }) => id),
        name,
      ).to.deep.equal(created[name]);
      expect(mailboxes.every((one: { name: string }) => one.name === name)).to.equal(true);
      expect(nextCursor).to.equal(null);
    }
    const ids: string[] = [];
    let more = '&limit=1';
    for (let page = 0; page < 3; page++) {
      const { mailboxes, nextCursor } = await list('a', more);
      ids.push(...mailboxes.map(({ id }: { id: string }) => id));
      more = `&limit=1&cursor=${nextCursor}`;
      expect(nextCursor === null).to.equal(page === 2);
    }
    expect(ids).to.deep.equal(created['a']);
    expect(await list('none')).to.deep.equal({ mailboxes: [], nextCursor: null });
    const { nextCursor } = await list('a', '&limit=1');
    expect(codeOf(await world.get(`/mailboxes?name=ab&cursor=${nextCursor}`))).to.equal('400 INVALID_CURSOR');
    for (const bad of ['', '%00', 'x'.repeat(201)])
      expect(codeOf(await world.get(`/mailboxes?name=${bad}`)), bad).to.equal('400 VALIDATION_FAILED');
  });

  it('finds the one budget and the one allowance of a name', async () => {
    const world = await World.create();
    const budgets: Record<string, object> = {};
    const allowances: Record<string, object> = {};
    for (const name of names) {
      budgets[name] = await world.mustPost('/budgets', { name, currency: 'EUR', scale: 2, limitMinor: '5' });
      allowances[name] = await world.mustPost('/allowances', { name, unitsLimit: 5, windowSeconds: 31_536_000 });
    }
    for (const name of names) {
      const query = `?name=${encodeURIComponent(name)}`;
      expect((await world.get(`/budgets${query}`)).body).to.deep.equal({ budgets: [budgets[name]], nextCursor: null });
      const found = (await world.get(`/allowances${query}`)).body;
      expect(found).to.deep.equal({ allowances: [allowances[name]], nextCursor: null });
    }
    expect((await world.get('/budgets?name=none')).body).to.deep.equal({ budgets: [], nextCursor: null });
    expect((await world.get('/allowances?name=none')).body).to.deep.equal({ allowances: [], nextCursor: null });
    expect(codeOf(await world.get('/budgets?name='))).to.equal('400 VALIDATION_FAILED');
  });
});
