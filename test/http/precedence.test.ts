import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../support/world.ts';

/** Requests with several errors: docs/reference.md, "Precedence", says which one is answered. */
describe('Precedence, first match wins', () => {
  let world: World;
  let mailboxId: string;
  const scopeId = randomUUID();
  const json = { 'Content-Type': 'application/json' };

  before(async () => {
    world = await World.create();
    mailboxId = (await world.mustPost('/mailboxes', { name: 'jobs' })).id;
  });

  const raw = (
    method: string,
    path: string,
    body: string | undefined,
    headers: Record<string, string>,
  ): Promise<Reply> => world.send(method, `/v1/spaces/${world.spaceId}${path}`, body, headers);

  it('404 route, 405, 415, 413 body, malformed JSON → 401', async () => {
    const large = '{'.repeat(300 * 1024);
    const text = { 'Content-Type': 'text/plain' };
    const wrong: [string, string, string, Record<string, string>, string][] = [
      ['PATCH', '/nothing', large, text, '404 ROUTE_NOT_FOUND'],
      ['PATCH', '/mailboxes', large, text, '405 METHOD_NOT_ALLOWED'],
      ['POST', '/mailboxes', large, text, '415 UNSUPPORTED_MEDIA_TYPE'],
      ['POST', '/mailboxes', large, json, '413 PAYLOAD_TOO_LARGE'],
      ['POST', '/mailboxes', '{', json, '400 MALFORMED_JSON'],
      ['POST', '/mailboxes', '{"x":1}', json, '401 UNAUTHENTICATED'],
      ['POST', '/mailboxes', '{"x":1}', { ...json, Authorization: 'Bearer x' }, '401 INVALID_API_KEY'],
    ];
    for (const [method, path, body, headers, expected] of wrong) {
      expect(codeOf(await raw(method, path, body, headers))).to.equal(expected);
    }
  });

  it('401 → 403 → 404 space → 400 by shape, cursors and Idempotency-Key included', async () => {
    const reader = await world.key(['coordination_read']);
    const elsewhere = `/v1/spaces/${randomUUID()}`;
    const invalidKey = { Authorization: `Bearer ${world.apiKey}x` };
    const readOnly = { Authorization: `Bearer ${reader}` };
    const mine = { Authorization: `Bearer ${world.apiKey}` };
    const writes = [
      { path: '/mailboxes', body: '{"x":1}' },
      { path: '/mailboxes', body: '{"name":"a"}' },
      { path: '/mailboxes/x/messages', body: '{}' },
      { path: '/mailboxes?x=1', body: '{"name":"a"}' },
    ];
    for (const { path, body } of writes) {
      const post = (prefix: string, headers: Record<string, string>) =>
        world.send('POST', `${prefix}${path}`, body, { ...json, ...headers });
      expect(codeOf(await post(elsewhere, invalidKey))).to.equal('401 INVALID_API_KEY');
      expect(codeOf(await post(elsewhere, readOnly))).to.equal('403 PERMISSION_DENIED');
      expect(codeOf(await post(elsewhere, mine))).to.equal('404 SPACE_NOT_FOUND');
      expect(codeOf(await post(`/v1/spaces/${world.spaceId}`, mine))).to.match(/^400 (VALIDATION|IDEMPOTENCY_KEY_REQ)/);
    }
    for (const path of ['/mailboxes?cursor=x', '/events?cursor=x', '/mailboxes?limit=0']) {
      const get = (prefix: string, headers: Record<string, string>) =>
        world.send('GET', prefix + path, undefined, headers);
      expect(codeOf(await get(elsewhere, invalidKey))).to.equal('401 INVALID_API_KEY');
      expect(codeOf(await get(elsewhere, mine))).to.equal('404 SPACE_NOT_FOUND');
      expect(codeOf(await get(`/v1/spaces/${world.spaceId}`, mine))).to.match(/^400 /);
    }
  });

  it('429 rates → 400 by shape', async () => {
    const busy = await World.create({ limits: { requestsPerMinute: 1 } });
    expect((await busy.get('/budgets')).status).to.equal(200);
    expect(codeOf(await busy.get('/budgets?limit=0'))).to.equal('429 RATE_LIMITED');
    expect(codeOf(await busy.post('/mailboxes', {}))).to.equal('429 RATE_LIMITED');
    expect(codeOf(await busy.get('/events?cursor=x'))).to.equal('429 RATE_LIMITED');
  });

  it('400 by shape → replay or 422 → 404 path resource', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    await world.mustPost('/mailboxes', { name: 'a' }, key);
    expect(codeOf(await world.post('/mailboxes', { name: 5 }, key))).to.equal('400 VALIDATION_FAILED');
    const unknown = `/mailboxes/${randomUUID()}/messages`;
    expect(codeOf(await world.post(unknown, { scopeId, payload: 1 }, key))).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    expect(codeOf(await world.post(unknown, { payload: 1 }, key))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await world.post(unknown, { scopeId, payload: 1 }))).to.equal('404 MAILBOX_NOT_FOUND');
    const past = { scopeId, payload: 1, deadline: '2001-01-01T00:00:00Z' };
    expect(codeOf(await world.post(unknown, past))).to.equal('404 MAILBOX_NOT_FOUND');
  });

  it('natural replay → 400s that depend on the clock → 402 → 413 payload → 409 limits', async () => {
    const free = await World.create({ plan: 'enterprise', limits: { maxPayloadBytes: 10, maxBacklog: 1 } });
    const { id } = await free.mustPost('/mailboxes', { name: 'jobs' });
    const send = `/mailboxes/${id}/messages`;
    const first = await free.mustPost(send, { scopeId, payload: 1, workKey: 'k' });
    const worst = { scopeId, payload: 'x'.repeat(20), deadline: '2001-01-01T00:00:00Z' };
    // The free plan with its month used up, written directly.
    const month = new Date().toISOString().slice(0, 7);
    await free.service.store.hset(`muster:{${free.org}}`, {
      plan: 'free',
      unlimited: '0',
      operations: 1,
      operationsMonth: month,
      usedOperations: 5,
    });
    const { deadline: _, ...large } = worst;
    expect((await free.post(send, { ...worst, workKey: 'k' })).body).to.deep.include({ id: first.id, replay: true });
    expect(codeOf(await free.post(send, worst))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await free.post(send, large))).to.equal('402 OPERATIONS_EXHAUSTED');
    await free.service.store.hset(`muster:{${free.org}}`, { operations: 100 });
    expect(codeOf(await free.post(send, large))).to.equal('413 PAYLOAD_TOO_LARGE');
    expect(codeOf(await free.post(send, { scopeId, payload: 1 }))).to.equal('409 BACKLOG_FULL');
  });

  it('the same for funds and units: natural replay → 400s of stored state → 402 → 413 → 409 limits → funds and units', async () => {
    const limits = { maxArmedTimers: 1, maxPayloadBytes: 10 };
    const full = await World.create({ figures: { runs: '1', tasks: '1' }, limits });
    const { id: mailboxId } = await full.mustPost('/mailboxes', { name: 'jobs' });
    const run = { scopeId: randomUUID(), holder: 'h' };
    const never = '2999-01-01T00:00:00Z';
    await full.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: run.scopeId, payload: 1, deadline: never });
    const { id: budget } = await full.mustPost('/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '5' });
    const { id: allowance } = await full.mustPost('/allowances', { name: 'a', unitsLimit: 5, windowSeconds: 86_400 });
    const fields = { mailboxId, condition: 'FIRST_ACCEPTED' };
    const { groupId } = await full.mustPost('/task-groups', { ...fields, parentScopeId: run.scopeId });
    const first = { ...run, units: 4, workKey: 'k' };
    await full.mustPost(`/allowances/${allowance}/consume`, first);
    const past = '2001-01-01T00:00:00Z';
    const [reserve, consume] = [`/budgets/${budget}/reserve`, `/allowances/${allowance}/consume`];
    const [wait, tasks] = [`/allowances/${allowance}/wait`, `/task-groups/${groupId}/tasks`];
    const all = async (calls: readonly (readonly [string, object, string])[]) => {
      for (const [path, body, expected] of calls)
        expect(codeOf(await full.post(path, body)), `${path} ${JSON.stringify(body)}`).to.equal(expected);
    };
    const other = { scopeId: randomUUID(), holder: 'h', units: 3 };
    const held = { scopeId: other.scopeId, holder: 'h', amountMinor: '9', settleBy: never };
    const large = { taskKey: 't', input: 'x'.repeat(20), deadline: never };
    const used = { operations: 1, operationsMonth: new Date().toISOString().slice(0, 7), usedOperations: 5 };
    await full.service.store.hset(`muster:{${full.org}}`, { plan: 'free', unlimited: '0', ...used });
    await all([
      [consume, first, '201'],
      [consume, { ...first, units: 9 }, '409 WORK_KEY_CONFLICT'],
      [consume, { ...other, units: 9 }, '400 UNITS_EXCEED_LIMIT'],
      [consume, other, '402 OPERATIONS_EXHAUSTED'],
      [wait, { ...other, units: 9 }, '400 UNITS_EXCEED_LIMIT'],
      [wait, other, '402 OPERATIONS_EXHAUSTED'],
      [reserve, { ...held, settleBy: past }, '400 VALIDATION_FAILED'],
      [reserve, held, '402 OPERATIONS_EXHAUSTED'],
      [tasks, { ...large, deadline: past }, '400 VALIDATION_FAILED'],
      [tasks, large, '402 OPERATIONS_EXHAUSTED'],
      ['/task-groups', { ...fields, deadline: past }, '400 VALIDATION_FAILED'],
      ['/task-groups', { ...fields, mailboxId: randomUUID() }, '409 MAILBOX_NOT_FOUND'],
      [`/task-groups/${groupId}/join-task`, { taskId: randomUUID() }, '409 TASK_NOT_FOUND'],
      ['/task-groups', { ...fields, deadline: never }, '402 OPERATIONS_EXHAUSTED'],
      ['/budgets', { name: 'b', currency: 'EUR', scale: 2, limitMinor: '5' }, '409 BUDGET_EXISTS'],
      ['/allowances', { name: 'a', unitsLimit: 5, windowSeconds: 60 }, '409 ALLOWANCE_EXISTS'],
    ]);
    await full.service.store.hset(`muster:{${full.org}}`, { operations: 1000 });
    await all([
      [consume, other, '409 ACTIVE_RUNS_LIMITED'],
      [consume, { ...other, ...run }, '429 ALLOWANCE_EXHAUSTED'],
      [reserve, held, '409 TIMERS_FULL'],
      [reserve, { ...held, settleBy: null }, '409 ACTIVE_RUNS_LIMITED'],
      [reserve, { ...held, ...run, settleBy: null }, '409 INSUFFICIENT_BUDGET'],
      [tasks, large, '413 PAYLOAD_TOO_LARGE'],
      [tasks, { taskKey: 't', deadline: never }, '409 TIMERS_FULL'],
      [`/allowances/${allowance}/cooldown`, { seconds: 60 }, '200'],
      [consume, first, '201'],
      [consume, other, '409 ACTIVE_RUNS_LIMITED'],
      [consume, { ...other, ...run }, '429 ALLOWANCE_COOLING_DOWN'],
    ]);
  });

  it('an unknown id in the path is 404, one in the body 409', async () => {
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1 });
    const recv = { scopeId, holder: 'h', holderSession: 's' };
    const { id, token } = await world.mustPost(`/mailboxes/${mailboxId}/recv`, recv);
    const result = { payload: 1, scopeId, mailboxId: randomUUID() };
    const refused = await world.post(`/messages/${id}/complete`, { token, result });
    expect(codeOf(refused)).to.equal('409 MAILBOX_NOT_FOUND');
    const unknown = await world.post(`/messages/${randomUUID()}/complete`, { token, result });
    expect(codeOf(unknown)).to.equal('404 MESSAGE_NOT_FOUND');
    expect(codeOf(await world.post(`/mailboxes/${randomUUID()}/recv`, recv))).to.equal('404 MAILBOX_NOT_FOUND');
  });
});
