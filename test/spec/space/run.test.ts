import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { keyName } from '../../../src/engine/library/keys.ts';
import { groupKeys } from '../../../src/primitives/group/keys.ts';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: as in Reply.
type Rows = any[];
const ids = (rows: Rows): string[] => rows.map((row) => row.id);

describe('run view', () => {
  it('answers SCOPE_NOT_FOUND for an id never used, even after a receive for it', async () => {
    const world = await World.create();
    const traffic = await Traffic.on(world);
    const scopeId = randomUUID();
    await traffic.claim(scopeId);
    const { status, body } = await world.get(`/ops/runs/${scopeId}`);
    expect([status, body.error.code]).to.deep.equal([404, 'SCOPE_NOT_FOUND']);
    expect((await world.get('/ops/runs/no-uuid')).body.error.code).to.equal('VALIDATION_FAILED');
  });

  it('shows every primitive of the scope, without payloads', async () => {
    const world = await World.create();
    const now = Date.now();
    await world.at(now);
    const traffic = await Traffic.on(world);
    const [scopeId, other] = [randomUUID(), randomUUID()];
    const [{ id: budgetId }] = (await world.get('/budgets')).body.budgets;
    const [{ id: allowanceId }] = (await world.get('/allowances')).body.allowances;
    const created: Record<string, string> = {};
    for (const one of [other, scopeId]) {
      created['message'] = (await traffic.send(one, { workKey: one })).id;
      created['barrier'] = (await world.mustPost('/barriers', { scopeId: one, target: 3 })).id;
      created['reservation'] = (
        await world.mustPost(`/budgets/${budgetId}/reserve`, { scopeId: one, holder: 'h', amountMinor: '5' })
      ).id;
      created['waiter'] = (
        await world.mustPost(`/allowances/${allowanceId}/wait`, { scopeId: one, holder: 'h', units: 1 })
      ).id;
    }
    for (const units of [1, 2])
      await world.mustPost(`/allowances/${allowanceId}/consume`, { scopeId, holder: 'h', units });
    await traffic.complete(await traffic.claim(scopeId), { payload: { secret: 1 } });
    const { text, body } = await world.get(`/ops/runs/${scopeId}`);
    expect(text).not.to.match(/secret|do this|"payload"|"result"|token/);
    const createdAt = new Date(now).toISOString();
    expect(body.scope).to.include({ id: scopeId, parentScopeId: null, state: 'IDLE', createdAt });
    expect([body.scopes, body.groups, body.truncated]).to.deep.equal([[], [], false]);
    expect(body.consumptions).to.deep.equal({ count: 2, units: 3 });
    expect(ids(body.messages)).to.deep.equal([created['message']]);
    expect(body.messages[0]).to.include({
      state: 'ACKED',
      attempts: 1,
      workKey: scopeId,
      holder: 'agent',
      leaseExpiresAt: null,
    });
    expect(ids(body.barriers)).to.deep.equal([created['barrier']]);
    expect(body.reservations[0]).to.include({
      id: created['reservation'],
      budgetId,
      state: 'ACTIVE',
      remainingMinor: '5',
    });
    expect(body.waiters[0]).to.include({ waiterId: created['waiter'], state: 'GRANTED', position: null });
    const [{ payload, result, progress, question, suspension, ...listed }] = (
      await world.get(`/mailboxes/${traffic.work}/messages?state=ACKED`)
    ).body.messages;
    const view = async (path: string) => (await world.get(path)).body;
    expect([body.messages[0], body.barriers[0], body.waiters[0], body.reservations[0]]).to.deep.equal([
      listed,
      await view(`/barriers/${created['barrier']}`),
      await view(`/allowance-waiters/${created['waiter']}`),
      (await view(`/budgets/${budgetId}`)).reservations[0],
    ]);
  });

  it('covers the subtree: what lies below the scope, and nothing above it or in siblings', async () => {
    const world = await World.create();
    const traffic = await Traffic.on(world);
    const root = randomUUID();
    const group = (parentScopeId: string) =>
      world.mustPost('/task-groups', { parentScopeId, mailboxId: traffic.work, condition: 'ALL_TERMINAL' });
    const top = await group(root);
    const below = await group(top.scopeId);
    const sibling = await group(root);
    const sent: string[] = [];
    for (const one of [top, below, sibling]) {
      sent.push((await world.mustPost(`/task-groups/${one.id}/tasks`, { taskKey: 'a', input: 'do this' })).messageId);
      await world.mustPost('/barriers', { scopeId: one.scopeId, target: 1 });
    }
    const whole = (await world.get(`/ops/runs/${root}`)).body;
    expect(whole.scope.state).to.equal('ACTIVE');
    expect(ids(whole.messages)).to.have.members(sent);
    expect(ids(whole.groups)).to.deep.equal([sibling.id, below.id, top.id]);
    expect(whole.barriers).to.have.length(3);
    expect(whole.scopes.map((one: Record<string, string>) => [one['id'], one['parentScopeId']])).to.have.deep.members([
      [top.scopeId, root],
      [sibling.scopeId, root],
      [below.scopeId, top.scopeId],
    ]);
    const part = (await world.get(`/ops/runs/${top.scopeId}`)).body;
    expect(part.scope.parentScopeId).to.equal(root);
    expect(ids(part.messages)).to.have.members(sent.slice(0, 2));
    expect(ids(part.groups)).to.have.members([top.id, below.id]);
    const { members, ...view } = (await world.get(`/task-groups/${below.id}`)).body;
    const { members: rows, ...row } = part.groups.find((one: { id: string }) => one.id === below.id);
    expect(row).to.deep.equal(view);
    expect(rows).to.deep.equal(members.map(({ outcome, ...member }: { outcome: unknown }) => member));
  });

  it('lists the newest 200 of a kind, newest first, and reports if there are more', async () => {
    const world = await World.create();
    const traffic = await Traffic.on(world);
    const scopeId = randomUUID();
    const sent = await Promise.all(Array.from({ length: 202 }, () => traffic.send(scopeId)));
    const { messages, barriers, truncated } = (await world.get(`/ops/runs/${scopeId}`)).body;
    expect(ids(messages)).to.deep.equal(ids(sent).sort().reverse().slice(0, 200));
    expect([barriers, truncated]).to.deep.equal([[], true]);
  });

  it('lists the newest groups up to 1,000 members in total', async () => {
    const world = await World.create();
    const traffic = await Traffic.on(world);
    const body = { parentScopeId: randomUUID(), mailboxId: traffic.work, condition: 'ALL_TERMINAL' };
    const older = await world.mustPost('/task-groups', body);
    await world.mustPost(`/task-groups/${older.id}/tasks`, { taskKey: 'a' });
    const { id: groupId } = await world.mustPost('/task-groups', body);
    const parts = { org: world.org, spaceNumber: world.spaceNumber, groupId };
    const batch = world.service.store.pipeline();
    for (let i = 0; i < 1000; i++) {
      const taskId = `0190a1b2-0000-7000-8000-${String(i).padStart(12, '0')}`;
      const task = { groupId, messageId: taskId, taskKey: `${i}`, state: 'SUCCEEDED', attempts: 1 };
      batch.zadd(keyName(groupKeys.groupMembers, parts), i + 1, taskId);
      batch.hset(keyName(groupKeys.task, { ...parts, taskId }), task);
    }
    await batch.exec();
    const { groups, truncated } = (await world.get(`/ops/runs/${body.parentScopeId}`)).body;
    expect([ids(groups), groups[0]?.members.length, truncated]).to.deep.equal([[groupId], 1000, true]);
  });

  it('lists at most 200 scopes, and the newest 200 messages of all of them', async () => {
    const world = await World.create({ limits: { maxBacklog: 100_000 } });
    const traffic = await Traffic.on(world);
    const root = randomUUID();
    const body = { parentScopeId: root, mailboxId: traffic.work, condition: 'ALL_TERMINAL' };
    const groups = await Promise.all(Array.from({ length: 205 }, () => world.mustPost('/task-groups', body)));
    const early = groups
      .map((group) => group.scopeId)
      .sort()
      .slice(0, 100);
    expect((await world.get(`/ops/runs/${root}`)).body.truncated).to.equal(true);
    const sent = await Promise.all(early.flatMap((scopeId) => [1, 2, 3].map(() => traffic.send(scopeId))));
    const { scopes, messages, truncated } = (await world.get(`/ops/runs/${root}`)).body;
    expect([scopes.length, messages.length, truncated]).to.deep.equal([200, 200, true]);
    expect(ids(messages)).to.deep.equal(ids(sent).sort().reverse().slice(0, 200));
  });
});
