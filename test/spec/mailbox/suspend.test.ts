import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, type Reply } from '../../support/world.ts';
import { Queue } from './queue.ts';

const second = 1000;
const month = 2_592_000 * second;
const iso = (at: number): string => new Date(at).toISOString();

describe('A suspended message', () => {
  let queue: Queue;
  let start: number;
  beforeEach(async () => {
    queue = await Queue.create();
    start = Math.ceil(Date.now() / second) * second;
    await queue.world.at(start);
  });
  afterEach(() => expectAgreement(queue.world));

  // biome-ignore lint/suspicious/noExplicitAny: as in Reply.
  const view = async (id: string): Promise<any> => (await queue.world.get(`/messages/${id}`)).body;
  const suspend = (claim: { id: string; token: string }, what: object): Promise<Reply> =>
    queue.world.post(`/messages/${claim.id}/suspend`, { token: claim.token, ...what });
  const putNote = async (path: string) => {
    const { status, body } = await queue.world.call('PUT', path, { value: 1 });
    expect(status).to.be.oneOf([200, 201]);
    return body;
  };
  /** Sends a parent and claims it. */
  const parent = async (fields: object = {}) => {
    await queue.send(fields);
    return queue.claim();
  };
  const ends = async (): Promise<string> => {
    const claim = await queue.claim();
    expect((await queue.act('complete', claim)).status).to.equal(200);
    return claim.id;
  };

  it('gives up its claim, and continues in the step in which the last message that it waits for ends', async () => {
    const claim = await parent();
    const [a, b] = [await queue.sent(), await queue.sent()];
    const { status, body } = await suspend(claim, { after: [{ messageId: a }, { messageId: b }], progress: { at: 3 } });
    expect(status).to.equal(201);
    const blockedBy = [
      { kind: 'MESSAGE', id: a },
      { kind: 'MESSAGE', id: b },
    ];
    expect(body).to.deep.equal({ id: claim.id, state: 'BLOCKED', blockedBy });
    const suspension = {
      since: iso(start),
      after: [
        { messageId: a, groupId: null, scopeId: null, state: 'READY' },
        { messageId: b, groupId: null, scopeId: null, state: 'READY' },
      ],
      note: null,
      until: null,
      timeoutAt: iso(start + month),
      any: false,
      wokenBy: null,
    };
    expect(await view(claim.id)).to.deep.include({
      state: 'BLOCKED',
      attempts: 0,
      holder: null,
      blockedBy,
      suspension,
    });
    expect(codeOf(await queue.act('complete', claim))).to.equal('409 CLAIM_LOST');
    const [waits] = (await queue.world.get('/ops/waits')).body.waitingTasks.filter(
      ({ taskId }: { taskId: string }) => taskId === claim.id,
    );
    expect(waits).to.deep.include({ waitsFor: 'BLOCKED', blockedBy });
    await expectAgreement(queue.world);

    expect(await ends()).to.equal(a);
    expect((await view(claim.id)).blockedBy).to.deep.equal([{ kind: 'MESSAGE', id: b }]);
    const failing = await queue.claim();
    await queue.act('nack', failing, { retry: false });
    const next = await queue.claim();
    expect(next).to.deep.include({ id: claim.id, attempt: 1, progress: { at: 3 }, blockedBy: [] });
    expect(next.suspension).to.deep.include({ wokenBy: 'CONDITION', since: iso(start) });
    expect(next.suspension.after.map(({ state }: { state: string }) => state)).to.deep.equal(['ACKED', 'REJECTED']);
    const { body: history } = await queue.world.get(`/messages/${claim.id}/attempts`);
    expect(history.attempts[0]).to.deep.include({ attempt: 1, outcome: 'SUSPENDED' });
    await queue.act('complete', next);
    const types = (await queue.eventTypes()).filter((type) => type === 'message.suspended');
    expect(types).to.have.length(1);
  });

  it('is READY at once if everything is over, at the end of its queue', async () => {
    const done = await queue.sent();
    await ends();
    const claim = await parent();
    const other = await queue.sent();
    const idle = randomUUID();
    await putNote(`/scopes/${idle}/notes/x`);
    const conditions = { after: [{ messageId: done }, { scopeId: idle }], delaySeconds: 0 };
    expect((await suspend(claim, conditions)).body).to.deep.equal({ id: claim.id, state: 'READY', blockedBy: [] });
    expect(await ends()).to.equal(other);
    expect((await queue.claim()).suspension).to.deep.include({ wokenBy: 'CONDITION', until: iso(start) });
  });

  it('continues with the first of several conditions with any', async () => {
    const claim = await parent();
    const [a, b] = [await queue.sent(), await queue.sent()];
    await suspend(claim, { after: [{ messageId: a }, { messageId: b }], delaySeconds: 60, any: true });
    expect((await view(claim.id)).blockedBy.map(({ kind }: { kind: string }) => kind)).to.deep.equal([
      'MESSAGE',
      'MESSAGE',
      'TIME',
    ]);
    await ends();
    const { suspension, state } = await view(claim.id);
    expect([state, suspension.wokenBy]).to.deep.equal(['READY', 'CONDITION']);
    expect(suspension.after.map((one: { state: string }) => one.state)).to.deep.equal(['ACKED', 'READY']);
  });

  it('sleeps, and continues when the time has passed', async () => {
    const claim = await parent();
    expect((await suspend(claim, { delaySeconds: 30 })).body.blockedBy).to.deep.equal([{ kind: 'TIME', id: null }]);
    await queue.world.at(start + 30 * second - 1);
    expect((await queue.recv()).status).to.equal(204);
    await queue.world.at(start + 30 * second);
    const next = await queue.claim();
    expect(next.suspension).to.deep.include({ wokenBy: 'CONDITION', until: iso(start + 30 * second) });
  });

  it('waits for its sleep and for the others', async () => {
    const claim = await parent();
    const a = await queue.sent();
    await suspend(claim, { after: [{ messageId: a }], delaySeconds: 30 });
    await queue.world.at(start + 30 * second);
    expect((await queue.act('renew', await queue.claim())).status).to.equal(200);
    expect((await view(claim.id)).blockedBy).to.deep.equal([{ kind: 'MESSAGE', id: a }]);
  });

  it('continues after timeoutSeconds, or is FAILED with SUSPEND_TIMEOUT', async () => {
    const [returns, fails] = [await parent(), await parent()];
    const a = await queue.sent({ delaySeconds: 3600 });
    await suspend(returns, { after: [{ messageId: a }], timeoutSeconds: 10 });
    await suspend(fails, { after: [{ messageId: a }], timeoutSeconds: 10, onTimeout: 'FAIL' });
    await queue.world.at(start + 10 * second);
    const next = await queue.claim();
    expect(next.id).to.equal(returns.id);
    expect(next.suspension).to.deep.include({ wokenBy: 'TIMEOUT' });
    expect(await view(fails.id)).to.deep.include({ state: 'FAILED', reason: 'SUSPEND_TIMEOUT' });
  });

  it('wins by a condition that is due at the moment of the timeout', async () => {
    const claim = await parent();
    const a = await queue.sent({ delaySeconds: 3600, deadline: iso(start + 3700 * second) });
    await suspend(claim, { after: [{ messageId: a }], timeoutSeconds: 3700, onTimeout: 'FAIL' });
    await queue.world.at(start + 3700 * second);
    expect((await queue.claim()).suspension).to.deep.include({ wokenBy: 'CONDITION' });
  });

  it('waits until nothing is live in a scope and below, so that what a complete publishes is not missed', async () => {
    const claim = await parent();
    const scopeId = randomUUID();
    const child = await queue.sent({ scopeId });
    await suspend(claim, { after: [{ scopeId }] });
    expect((await view(claim.id)).blockedBy).to.deep.equal([{ kind: 'SCOPE', id: scopeId }]);
    const first = await queue.claim({ scopeId });
    expect(first.id).to.equal(child);
    await queue.act('complete', first, { result: { payload: 1, mailboxId: queue.id, scopeId } });
    expect((await view(claim.id)).state).to.equal('BLOCKED');
    await queue.act('complete', await queue.claim({ scopeId }));
    expect((await queue.claim()).suspension.after).to.deep.equal([
      { messageId: null, groupId: null, scopeId, state: 'IDLE' },
    ]);
  });

  it('continues with the first step of a cancel of the scope that it waits for', async () => {
    const claim = await parent();
    const scopeId = randomUUID();
    await queue.sent({ scopeId });
    await suspend(claim, { after: [{ scopeId }] });
    await queue.world.mustPost(`/scopes/${scopeId}/cancel`);
    expect((await queue.claim()).suspension.after[0]).to.deep.include({ scopeId, state: 'CANCELLED' });
  });

  it('waits for another version of a note, a deletion included', async () => {
    const claim = await parent();
    const note = `/scopes/${queue.scopeId}/notes/plan%20b`;
    const { body } = await suspend(claim, { note: { key: 'plan b', sinceVersion: 0 } });
    expect(body.blockedBy).to.deep.equal([{ kind: 'NOTE', id: queue.scopeId }]);
    const { version } = await putNote(note);
    const again = await queue.claim();
    expect(again.suspension.note).to.deep.equal({ scopeId: queue.scopeId, key: 'plan b', sinceVersion: 0 });
    await suspend(again, { note: { key: 'plan b', sinceVersion: version } });
    expect((await queue.recv()).status).to.equal(204);
    expect((await queue.world.call('DELETE', note)).status).to.equal(204);
    const last = await queue.claim();
    expect((await suspend(last, { note: { key: 'plan b', sinceVersion: version } })).body.state).to.equal('READY');
  });

  it('waits for a note of a scope that was never used', async () => {
    const claim = await parent();
    const scopeId = randomUUID();
    await suspend(claim, { note: { scopeId, key: 'go', sinceVersion: 0 } });
    expect((await queue.recv()).status).to.equal(204);
    await putNote(`/scopes/${scopeId}/notes/go`);
    expect((await queue.claim()).id).to.equal(claim.id);
  });

  it('is judged when an atomic batch that sends what it waits for has ended', async () => {
    const claim = await parent();
    const scopeId = randomUUID();
    await putNote(`/scopes/${scopeId}/notes/x`);
    const child = { call: 'message.send', mailboxId: queue.id, scopeId, payload: 1 };
    const waits = { call: 'message.suspend', messageId: claim.id, token: claim.token };
    const answers = await queue.world.mustPost('/batch', {
      atomic: true,
      calls: [{ ...waits, after: [{ scopeId }] }, child],
    });
    expect(answers.results[0].body).to.deep.include({ state: 'BLOCKED' });
    expect((await view(claim.id)).state).to.equal('BLOCKED');
    await queue.act('complete', await queue.claim({ scopeId }));
    const next = await queue.claim();
    const joined = await queue.world.mustPost('/batch', {
      atomic: true,
      calls: [child, { ...waits, token: next.token, after: [{ messageId: { $from: 0 } }] }],
    });
    expect(joined.results[1].body.blockedBy).to.deep.equal([{ kind: 'MESSAGE', id: joined.results[0].body.id }]);
    await queue.act('complete', await queue.claim({ scopeId }));
    expect((await queue.claim()).id).to.equal(claim.id);
  });

  it('is READY in the answer of an atomic batch in which what it waits for ends', async () => {
    const claim = await parent();
    const child = await queue.sent();
    const { results } = await queue.world.mustPost('/batch', {
      atomic: true,
      calls: [
        { call: 'message.suspend', messageId: claim.id, token: claim.token, after: [{ messageId: child }] },
        { call: 'message.cancel', messageId: child },
      ],
    });
    expect(results[0].body).to.deep.equal({ id: claim.id, state: 'READY', blockedBy: [] });
  });

  it('is refused for itself, its group, its run, unknown things, too many suspensions and a decided group', async () => {
    const claim = await parent();
    const unknown = randomUUID();
    const cases: [object, string][] = [
      [{}, '400 VALIDATION_FAILED'],
      [{ after: [] }, '400 VALIDATION_FAILED'],
      [{ after: [{ messageId: claim.id }] }, '400 VALIDATION_FAILED'],
      [{ after: [{ scopeId: queue.scopeId }] }, '400 VALIDATION_FAILED'],
      [{ after: [{ messageId: unknown, scopeId: unknown }] }, '400 VALIDATION_FAILED'],
      [{ after: [{ scopeId: unknown }, { scopeId: unknown }] }, '400 VALIDATION_FAILED'],
      [{ after: [{ messageId: unknown }] }, '409 MESSAGE_NOT_FOUND'],
      [{ after: [{ groupId: unknown }] }, '409 GROUP_NOT_FOUND'],
      [{ after: [{ scopeId: unknown }] }, '409 SCOPE_NOT_FOUND'],
      [{ delaySeconds: 2_592_001 }, '400 VALIDATION_FAILED'],
      [{ delaySeconds: 1, timeoutSeconds: 0 }, '400 VALIDATION_FAILED'],
    ];
    for (const [what, code] of cases) expect(codeOf(await suspend(claim, what)), JSON.stringify(what)).to.equal(code);
    expect((await queue.act('renew', claim)).status).to.equal(200);
    await queue.world.service.store.hset(`${queue.world.prefix}:message:${claim.id}`, 'suspensions', '1000');
    expect(codeOf(await suspend(claim, { delaySeconds: 1 }))).to.equal('409 SUSPENSIONS_FULL');
    const group = await queue.world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'FIRST_ACCEPTED' });
    await queue.world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: 'a' });
    const member = await queue.claim({ scopeId: (await queue.world.get(`/task-groups/${group.id}`)).body.scopeId });
    expect(codeOf(await suspend(member, { after: [{ groupId: group.id }] }))).to.equal('400 VALIDATION_FAILED');
  });

  it('keeps the place of its key, or yields it and queues again', async () => {
    await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 1 });
    const first = await parent({ key: 'k' });
    const second = await queue.sent({ key: 'k' });
    await suspend(first, { delaySeconds: 5 });
    expect((await queue.recv()).status).to.equal(204);
    await queue.world.at(start + 5000);
    const again = await queue.claim();
    expect(again.id).to.equal(first.id);
    await suspend(again, { delaySeconds: 5, yieldsKey: true });
    const other = await queue.claim();
    expect(other.id).to.equal(second);
    await queue.world.at(start + 10_000);
    expect((await queue.recv()).status).to.equal(204);
    expect((await view(first.id)).blockedBy).to.deep.equal([{ kind: 'KEY', id: second }]);
    await queue.act('complete', other);
    expect((await queue.claim()).id).to.equal(first.id);
  });

  it('ends with its deadline, a cancel, its run and a purge like any BLOCKED message', async () => {
    const claims = [await parent({ deadline: iso(start + 60 * second) }), await parent(), await parent()];
    const waits = await queue.sent({ delaySeconds: 3600 });
    for (const claim of claims)
      await suspend(claim, { after: [{ messageId: waits }], note: { key: 'x', sinceVersion: 0 }, delaySeconds: 3000 });
    await queue.world.at(start + 60 * second);
    await queue.world.mustPost(`/messages/${claims[1].id}/cancel`);
    expect((await view(claims[0].id)).state).to.equal('EXPIRED');
    expect((await view(claims[1].id)).state).to.equal('CANCELLED');
    await expectAgreement(queue.world);
    await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
    expect(await view(claims[2].id)).to.deep.include({ state: 'CANCELLED', reason: 'RUN_CANCELLED' });
  });

  it('has no suspension after a requeue', async () => {
    const claim = await parent();
    await suspend(claim, { delaySeconds: 10, timeoutSeconds: 5, onTimeout: 'FAIL' });
    await queue.world.at(start + 5000);
    await queue.world.mustPost('/mailboxes', { name: 'sweeps' });
    expect((await view(claim.id)).reason).to.equal('SUSPEND_TIMEOUT');
    await queue.world.mustPost(`/messages/${claim.id}/requeue`);
    expect(await view(claim.id)).to.deep.include({ state: 'READY', suspension: null });
  });
});
