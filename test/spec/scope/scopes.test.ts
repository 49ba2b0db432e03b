import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { keyName } from '../../../src/engine/library/keys.ts';
import { scopeKeys } from '../../../src/primitives/scope/keys.ts';
import { codeOf, World } from '../../support/world.ts';
import { Run } from './run.ts';

const ids = (rows: { id: string }[]): string[] => rows.map(({ id }) => id);

describe('POST /scopes', () => {
  it('creates a scope before its first use, once, however often it is sent with its Idempotency-Key', async () => {
    const world = await World.create();
    const parentScopeId = randomUUID();
    const headers = { 'Idempotency-Key': 'one' };
    const { status, body } = await world.post('/scopes', { parentScopeId, name: 'crawl 7' }, headers);
    expect(status).to.equal(201);
    const again = await world.post('/scopes', { parentScopeId, name: 'crawl 7' }, headers);
    expect([again.status, again.body]).to.deep.equal([201, body]);
    const { id, createdAt, ...rest } = body;
    const live = { messages: 0, waiters: 0 };
    const ended = { acked: 0, rejected: 0, failed: 0, expired: 0, cancelled: 0 };
    expect(rest).to.deep.equal({ parentScopeId, name: 'crawl 7', state: 'IDLE', live, ended, paused: false });
    expect(createdAt).to.match(/Z$/);
    expect((await world.get(`/scopes/${id}`)).body).to.deep.equal(body);
    expect(await world.eventTypes()).to.deep.equal(['scope.created', 'scope.created']);
    expect((await world.get(`/scopes/${parentScopeId}`)).body).to.deep.include({ parentScopeId: null, name: null });
    expect((await world.get(`/ops/runs/${parentScopeId}`)).body.scopes[0]).to.deep.include({ id, name: 'crawl 7' });
  });

  it('answers 200 for an existing scope if parent and name, where given, match, else SCOPE_CONFLICT', async () => {
    const world = await World.create();
    const [scopeId, parentScopeId] = [randomUUID(), randomUUID()];
    const created = await world.mustPost('/scopes', { scopeId, parentScopeId, name: 'a' });
    const before = (await world.eventTypes()).length;
    for (const more of [{}, { parentScopeId }, { name: 'a' }, { parentScopeId, name: 'a' }, { name: null }]) {
      const { status, body } = await world.post('/scopes', { scopeId, ...more });
      expect([status, body], JSON.stringify(more)).to.deep.equal([200, created]);
    }
    for (const more of [{ name: 'b' }, { parentScopeId: randomUUID() }, { parentScopeId, name: 'b' }])
      expect(codeOf(await world.post('/scopes', { scopeId, ...more }))).to.equal('409 SCOPE_CONFLICT');
    // A root has no parent, and a scope created by a message has no name.
    const named = { scopeId: parentScopeId, name: 'a' };
    expect(codeOf(await world.post('/scopes', named))).to.equal('409 SCOPE_CONFLICT');
    const below = { scopeId: parentScopeId, parentScopeId: scopeId };
    expect(codeOf(await world.post('/scopes', below))).to.equal('409 SCOPE_CONFLICT');
    expect((await world.eventTypes()).length).to.equal(before);
  });

  it('makes a scope whose state an atomic batch may expect: IDLE, ACTIVE while it has live messages, CANCELLED', async () => {
    const world = await World.create();
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'm' });
    const scopeId = randomUUID();
    const expects = async (state: string): Promise<string> => {
      const calls = [{ call: 'scope.view', scopeId, expect: { state } }];
      return codeOf(await world.post('/batch', { atomic: true, calls }));
    };
    const isNow = async (now: string): Promise<void> => {
      for (const state of ['IDLE', 'ACTIVE', 'CANCELLED'])
        expect(await expects(state), `${now}, ${state} expected`).to.equal(
          state === now ? '200' : '409 EXPECTATION_FAILED',
        );
    };
    await world.mustPost('/scopes', { scopeId });
    await isNow('IDLE');
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
    await isNow('ACTIVE');
    await world.mustPost(`/scopes/${scopeId}/cancel`);
    await isNow('CANCELLED');
  });

  it('refuses a scope as its own parent, and depths beyond 8', async () => {
    const world = await World.create();
    const scopeId = randomUUID();
    expect(codeOf(await world.post('/scopes', { scopeId, parentScopeId: scopeId }))).to.equal('400 VALIDATION_FAILED');
    let deepest = new Run(world, randomUUID(), '');
    for (let depth = 2; depth <= 8; depth++) deepest = await deepest.below();
    const tooDeep = await world.post('/scopes', { parentScopeId: deepest.scopeId });
    expect(codeOf(tooDeep)).to.equal('409 SCOPE_DEPTH_EXCEEDED');
  });

  it('allows 10,000 children created this way per parent; gate scopes do not count', async () => {
    const world = await World.create();
    const run = await Run.create(world);
    await run.below();
    const group = { parentScopeId: run.scopeId, mailboxId: run.mailboxId, condition: 'ALL_TERMINAL' };
    const key = keyName(scopeKeys.scope, { org: world.org, spaceNumber: world.spaceNumber, scopeId: run.scopeId });
    await world.mustPost('/task-groups', group);
    expect(await world.service.store.hget(key, 'declaredChildren')).to.equal('1');
    await world.service.store.hset(key, 'declaredChildren', '9999');
    await run.below();
    const full = await world.post('/scopes', { parentScopeId: run.scopeId });
    expect(codeOf(full)).to.equal('409 SCOPE_CHILDREN_FULL');
    expect((await world.post('/task-groups', group)).status).to.equal(201);
  });

  it("refuses a new run that would exceed the plan's active runs", async () => {
    const world = await World.create({ figures: { runs: '1' } });
    const run = await Run.create(world);
    await run.sent(1);
    expect((await world.post('/scopes', { parentScopeId: run.scopeId })).status).to.equal(201);
    for (const body of [{}, { parentScopeId: randomUUID() }])
      expect(codeOf(await world.post('/scopes', body))).to.equal('409 ACTIVE_RUNS_LIMITED');
  });
});

describe('GET /scopes', () => {
  it('lists scopes, newest first, in pages, by state, parent and name', async () => {
    const world = await World.create();
    const start = Date.now();
    const created: string[] = [];
    const make = async (body: object): Promise<string> => {
      await world.at(start + created.length);
      created.unshift((await world.mustPost('/scopes', { scopeId: randomUUID(), ...body })).id);
      return created[0] as string;
    };
    const root = await make({ name: 'a' });
    const child = await make({ parentScopeId: root, name: 'b' });
    await make({ parentScopeId: root, name: 'a' });
    await make({ parentScopeId: child });
    const busy = await make({ name: 'ab' });
    await new Run(world, busy, (await world.mustPost('/mailboxes', { name: 'jobs' })).id).sent(1);
    const pages = async (query: string): Promise<string> => {
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body } = await world.get(`/scopes?${query}${cursor && `&cursor=${cursor}`}`);
        found.push(
          ids(body.scopes)
            .map((id) => created.indexOf(id))
            .join(''),
        );
        cursor = body.nextCursor;
      }
      return found.join(' ');
    };
    expect(await pages('')).to.equal('01234');
    expect(await pages('limit=2')).to.equal('01 23 4');
    expect(await pages(`parentScopeId=${root}`)).to.equal('23');
    expect(await pages(`parentScopeId=${root}&limit=1`)).to.equal('2 3');
    expect(await pages('name=a')).to.equal('24');
    expect(await pages('name=a&limit=1')).to.equal('2 4');
    expect(await pages(`name=a&parentScopeId=${root}`)).to.equal('2');
    expect(await pages('name=b&state=IDLE')).to.equal('3');
    expect(await pages('state=ACTIVE')).to.equal('0');
    await world.post(`/scopes/${child}/cancel`);
    expect(await pages('state=CANCELLED')).to.equal('13');
    expect(await pages('state=IDLE,ACTIVE')).to.equal('024');
    expect(await pages(`parentScopeId=${randomUUID()}`)).to.equal('');
  });

  it('examines 500 records per page with a filter by state', async () => {
    const world = await World.create();
    await world.at(Date.now());
    const { id } = await world.mustPost('/scopes', {});
    await world.post(`/scopes/${id}/cancel`);
    const parts = { org: world.org, spaceNumber: world.spaceNumber };
    const batch = world.service.store.pipeline();
    for (let i = 0; i < 500; i++) {
      const scopeId = `ffffffff-0000-7000-8000-${String(i).padStart(12, '0')}`;
      batch.hset(keyName(scopeKeys.scope, { ...parts, scopeId }), { path: scopeId, live: 0, createdAt: 1 });
      batch.zadd(keyName(scopeKeys.scopes, parts), 0, `ffffffffffff ${scopeId}`);
    }
    await batch.exec();
    const first = (await world.get('/scopes?state=CANCELLED')).body;
    expect(first.scopes).to.deep.equal([]);
    const second = (await world.get(`/scopes?state=CANCELLED&cursor=${first.nextCursor}`)).body;
    expect([ids(second.scopes), second.nextCursor]).to.deep.equal([[id], null]);
  });
});
