import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { Queue } from '../mailbox/queue.ts';
import { Team } from './team.ts';

describe('POST /task-groups', () => {
  it('creates an OPEN group with its own gate scope below parentScopeId, which it creates if unknown', async () => {
    const { world, id: mailboxId } = await Queue.create();
    const parentScopeId = randomUUID();
    const fields = {
      parentScopeId,
      mailboxId,
      condition: 'N_ACCEPTED',
      threshold: 2,
      deadline: '2040-01-01T01:00:00+01:00',
    };
    const { status, body } = await world.post('/task-groups', fields);
    expect(status).to.equal(201);
    expect(body).to.include({ id: body.groupId, state: 'OPEN' });
    expect(body.scopeId).to.not.equal(body.groupId);
    const { body: view } = await world.get(`/task-groups/${body.groupId}`);
    const { createdAt } = view;
    const counts = {
      members: 0,
      pending: 0,
      running: 0,
      succeeded: 0,
      failed: 0,
      expired: 0,
      cancelled: 0,
      accepted: 0,
      rejected: 0,
    };
    expect(view).to.deep.equal({
      ...{ id: body.id, groupId: body.id, scopeId: body.scopeId, state: 'OPEN', workKey: null },
      ...{ ...fields, deadline: '2040-01-01T00:00:00.000Z', outcome: null },
      ...{ counts, members: [], createdAt, sealedAt: null, decidedAt: null },
    });
    const types = ['mailbox.created', 'scope.created', 'scope.created', 'group.created'];
    expect(await world.eventTypes()).to.deep.equal(types);
    const { events } = (await world.get('/events')).body;
    expect(events[2].payload).to.deep.equal({ scopeId: body.scopeId, parentScopeId });
    expect(events[3]).to.deep.include({ aggregate: 'group', aggregateId: body.groupId, scopeId: body.scopeId });
  });

  it('makes the gate scope a root without parentScopeId', async () => {
    const team = await Team.create({ parentScopeId: null });
    expect(await team.view()).to.include({ parentScopeId: null });
    const { events } = (await team.queue.world.get('/events')).body;
    expect(events[1].payload).to.deep.equal({ scopeId: team.gate, parentScopeId: null });
  });

  it('requires threshold for N_ACCEPTED; otherwise threshold is ignored and null', async () => {
    const { world, id: mailboxId } = await Queue.create();
    for (const threshold of [undefined, null]) {
      const reply = await world.post('/task-groups', { mailboxId, condition: 'N_ACCEPTED', threshold });
      expect(codeOf(reply), `${threshold}`).to.equal('400 VALIDATION_FAILED');
      expect(reply.body.error.message).to.match(/^threshold /);
    }
    for (const condition of ['FIRST_ACCEPTED', 'ALL_TERMINAL']) {
      const { groupId } = await world.mustPost('/task-groups', { mailboxId, condition, threshold: 3 });
      expect((await world.get(`/task-groups/${groupId}`)).body.threshold).to.equal(null);
    }
  });

  it('requires an existing WORK mailbox (409, as its id is in the body) and a deadline in the future', async () => {
    const { world, id: mailboxId } = await Queue.create({ mode: 'INBOX' });
    const condition = 'FIRST_ACCEPTED';
    const unknown = await world.post('/task-groups', { mailboxId: randomUUID(), condition });
    expect(codeOf(unknown)).to.equal('409 MAILBOX_NOT_FOUND');
    const inbox = await world.post('/task-groups', { mailboxId, condition });
    expect(codeOf(inbox)).to.equal('409 MAILBOX_MODE_INVALID');
    const work = await world.mustPost('/mailboxes', { name: 'work' });
    const now = Date.now() + 1000;
    await world.at(now);
    const fields = (at: number) => ({ mailboxId: work.id, condition, deadline: new Date(at).toISOString() });
    expect(codeOf(await world.post('/task-groups', fields(now)))).to.equal('400 VALIDATION_FAILED');
    const team = new Team(
      new Queue(world, work.id),
      (await world.mustPost('/task-groups', fields(now + 1))).groupId,
      '',
    );
    expect(codeOf(await team.submit('a', { deadline: fields(now).deadline }))).to.equal('400 VALIDATION_FAILED');
    expect((await team.submit('a', { deadline: fields(now + 1).deadline })).status).to.equal(201);
    expect(codeOf(await world.post('/task-groups', { mailboxId: work.id, condition: 'ANY' }))).to.equal(
      '400 VALIDATION_FAILED',
    );
  });

  it('replays the first group for the same Idempotency-Key', async () => {
    const { world, id: mailboxId } = await Queue.create();
    const [body, headers] = [{ mailboxId, condition: 'ALL_TERMINAL' }, { 'Idempotency-Key': 'k' }];
    const first = await world.post('/task-groups', body, headers);
    const again = await world.post('/task-groups', body, headers);
    expect([again.status, again.body]).to.deep.equal([201, { ...first.body, replay: true }]);
    expect((await world.get('/task-groups')).body.groups).to.have.lengthOf(1);
  });

  it('allows gate scopes up to 8 deep', async () => {
    const queue = await Queue.create();
    let team = await Team.create({}, queue);
    for (let depth = 3; depth <= 8; depth++) team = await Team.create({ parentScopeId: team.gate }, queue);
    const fields = { parentScopeId: team.gate, mailboxId: queue.id, condition: 'FIRST_ACCEPTED' };
    expect(codeOf(await queue.world.post('/task-groups', fields))).to.equal('409 SCOPE_DEPTH_EXCEEDED');
  });

  it('allows at most 1,000 undecided groups per parent scope', async () => {
    const team = await Team.create({ condition: 'ALL_TERMINAL' });
    const { queue } = team;
    const { service, prefix } = queue.world;
    const scope = `${prefix}:scope:${queue.scopeId}`;
    expect(await service.store.hget(scope, 'undecidedGroups')).to.equal('1');
    await service.store.hset(scope, 'undecidedGroups', '999');
    const fields = { parentScopeId: queue.scopeId, mailboxId: queue.id, condition: 'ALL_TERMINAL' };
    const create = async () => codeOf(await queue.world.post('/task-groups', fields));
    expect([await create(), await create()]).to.deep.equal(['201', '409 SCOPE_CHILDREN_FULL']);
    expect((await team.seal()).body.outcome).to.equal('SATISFIED');
    expect([await create(), await create()]).to.deep.equal(['201', '409 SCOPE_CHILDREN_FULL']);
  });

  it("counts a deadline among the space's maxArmedTimers until the decision", async () => {
    const queue = await Queue.create({}, await World.create({ limits: { maxArmedTimers: 1 } }));
    const deadline = '2040-01-01T00:00:00Z';
    const team = await Team.create({ deadline, condition: 'ALL_TERMINAL' }, queue);
    const fields = { mailboxId: queue.id, condition: 'ALL_TERMINAL', deadline };
    expect(codeOf(await queue.world.post('/task-groups', fields))).to.equal('409 TIMERS_FULL');
    expect(codeOf(await team.submit('a', { deadline }))).to.equal('409 TIMERS_FULL');
    const timeless = await Team.create({}, queue);
    expect((await timeless.submit('a')).status, 'what carries none is not refused').to.equal(201);
    await team.seal();
    expect((await queue.world.post('/task-groups', fields)).status).to.equal(201);
    await expectAgreement(queue.world);
  });
});

describe('GET /task-groups', () => {
  it('lists groups newest first, in pages, as the view shows them', async () => {
    const queue = await Queue.create();
    const teams: Team[] = [];
    for (let i = 0; i < 5; i++) teams.unshift(await Team.create({}, queue));
    await teams[4]?.succeeded(1);
    const views = await Promise.all(teams.map((team) => team.view()));
    const first = (await queue.world.get('/task-groups?limit=3')).body;
    const second = (await queue.world.get(`/task-groups?limit=3&cursor=${first.nextCursor}`)).body;
    expect([...first.groups, ...second.groups]).to.deep.equal(views);
    expect(second.nextCursor).to.equal(null);
  });

  it('filters by state, one or a comma-separated list; an unknown one is 400', async () => {
    const queue = await Queue.create();
    const [open, sealed, decided] = [
      await Team.create({}, queue),
      await Team.create({}, queue),
      await Team.create({}, queue),
    ];
    await sealed.submitted(1);
    for (const team of [sealed, decided]) await team.seal();
    const found = async (state: string) =>
      (await queue.world.get(`/task-groups?state=${state}`)).body.groups.map((group: { id: string }) => group.id);
    expect(await found('OPEN')).to.deep.equal([open.id]);
    expect(await found('SEALED')).to.deep.equal([sealed.id]);
    expect(await found('DECIDED,OPEN')).to.deep.equal([decided.id, open.id]);
    expect(codeOf(await queue.world.get('/task-groups?state=DONE'))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await queue.world.get('/task-groups?cursor=x'))).to.equal('400 INVALID_CURSOR');
  });

  it('ends a page after 1,000 groups and members, with a cursor for the rest', async () => {
    const queue = await Queue.create();
    const { service, prefix } = queue.world;
    const teams = await Promise.all(Array.from({ length: 11 }, () => Team.create({}, queue)));
    // As if each had 100 members.
    for (const { id } of teams) await service.store.hset(`${prefix}:group:${id}`, 'members', '100');
    const page = async (query: string) => {
      const { groups, nextCursor } = (await queue.world.get(`/task-groups?${query}`)).body;
      return { found: groups.length, nextCursor };
    };
    const first = await page('');
    expect(first.found).to.equal(10);
    expect(await page(`cursor=${first.nextCursor}`)).to.deep.equal({ found: 1, nextCursor: null });
    expect((await page('limit=9')).found).to.equal(9);
  });

  it('ends a page after 1,000 groups of other states, too', async () => {
    const team = await Team.create();
    const { world } = team.queue;
    await team.seal();
    const batch = world.service.store.pipeline();
    for (let i = 0; i < 1000; i++) {
      const id = `ffffffff-0000-7000-8000-${String(i).padStart(12, '0')}`;
      batch.hset(`${world.prefix}:group:${id}`, 'state', 'OPEN');
      batch.zadd(`${world.prefix}:groups`, 0, id);
    }
    await batch.exec();
    const first = (await world.get('/task-groups?state=DECIDED')).body;
    expect(first.groups).to.deep.equal([]);
    const second = (await world.get(`/task-groups?state=DECIDED&cursor=${first.nextCursor}`)).body;
    expect(second.groups.map(({ id }: { id: string }) => id)).to.deep.equal([team.id]);
    expect(second.nextCursor).to.equal(null);
  });

  it('ends a page after 4 MiB of outcomes, with a cursor for the rest', async () => {
    const queue = await Queue.create();
    const [older, newer] = [await Team.create({}, queue), await Team.create({}, queue)];
    const { service, prefix } = queue.world;
    for (const team of [older, newer]) {
      await team.succeeded(1);
      const [{ messageId }] = (await team.view()).members;
      await service.store.hset(`${prefix}:message:${messageId}`, 'result', `"${'x'.repeat(4_200_000)}"`);
    }
    const first = (await queue.world.get('/task-groups')).body;
    expect(first.groups.map(({ id }: { id: string }) => id)).to.deep.equal([newer.id]);
    const second = (await queue.world.get(`/task-groups?cursor=${first.nextCursor}`)).body;
    expect(second.groups.map(({ id }: { id: string }) => id)).to.deep.equal([older.id]);
  });
});
