import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { showOrganization } from '../../../src/primitives/org/admin.ts';
import { plans } from '../../../src/primitives/org/plans.ts';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

const outcome = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [
  status,
  body?.error?.code,
];

/** Sets how many operations of this month have been used. */
async function use(world: World, operations: number): Promise<void> {
  const month = new Date().toISOString().slice(0, 7);
  await world.service.store.hset(`muster:{${world.org}}`, {
    usedOperations: operations,
    operationsMonth: month,
  });
}

const used = async (world: World): Promise<number> =>
  Number(await world.service.store.hget(`muster:{${world.org}}`, 'usedOperations'));

describe('operations of a month', () => {
  it('end new work on Free at the 100,000th: all of it is refused with OPERATIONS_EXHAUSTED, running work may finish', async () => {
    const world = await World.create({ plan: 'free' });
    const traffic = await Traffic.on(world);
    const scopeId = traffic.scope();
    const [{ id: budgetId }] = (await world.get('/budgets')).body.budgets;
    const [{ id: allowanceId }] = (await world.get('/allowances')).body.allowances;
    const hook = { url: 'https://127.0.0.1:9/hook', eventTypes: ['waiter.expired'] };
    const { id: destinationId } = await world.mustPost('/destinations', hook);
    const group = await world.mustPost('/task-groups', { mailboxId: traffic.work, condition: 'ALL_TERMINAL' });
    const task = await world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: 'a' });
    const barriers = await Promise.all([1, 2].map((target) => world.mustPost('/barriers', { scopeId, target })));
    const reservations = await Promise.all(
      [1, 2].map(() => world.mustPost(`/budgets/${budgetId}/reserve`, { scopeId, holder: 'h', amountMinor: '5' })),
    );
    const wait = (units: number) => world.mustPost(`/allowances/${allowanceId}/wait`, { scopeId, holder: 'h', units });
    await wait(10);
    const waiter = await wait(1);
    await traffic.send(scopeId);
    await traffic.send(scopeId);
    await traffic.send(scopeId);
    const [first, second] = [await traffic.claim(scopeId), await traffic.claim(scopeId)];
    const member = await traffic.claim(group.scopeId);
    await world.mustPost(`/barriers/${barriers[0].id}/arrive`, { arrivalKey: 'a' });

    await use(world, 99_999);
    await traffic.send(scopeId);
    expect(await used(world)).to.equal(100_000);
    const refused: [string, unknown][] = [
      ['/mailboxes', { name: 'x' }],
      [`/mailboxes/${traffic.work}/messages`, { scopeId, payload: 1 }],
      [`/mailboxes/${traffic.work}/recv`, { scopeId, holder: 'h', holderSession: 's' }],
      ['/task-groups', { mailboxId: traffic.work, condition: 'ALL_TERMINAL' }],
      [`/task-groups/${group.id}/tasks`, { taskKey: 'b' }],
      [`/task-groups/${group.id}/join-task`, { taskId: first.taskId }],
      ['/barriers', { scopeId, target: 1 }],
      [`/barriers/${barriers[0].id}/nextEpoch`, undefined],
      ['/budgets', { name: 'x', currency: 'EUR', scale: 2, limitMinor: '1' }],
      [`/budgets/${budgetId}/reserve`, { scopeId, holder: 'h', amountMinor: '5' }],
      ['/allowances', { name: 'x', unitsLimit: 1, windowSeconds: 60 }],
      [`/allowances/${allowanceId}/consume`, { scopeId, holder: 'h', units: 1 }],
      [`/allowances/${allowanceId}/wait`, { scopeId, holder: 'h', units: 1 }],
      [`/allowances/${allowanceId}/cooldown`, { seconds: 5 }],
      ['/destinations', hook],
      [`/destinations/${destinationId}/rotate-secret`, undefined],
      [`/destinations/${destinationId}/test`, undefined],
    ];
    for (const [path, body] of refused) {
      expect([path, ...outcome(await world.post(path, body))]).to.deep.equal([path, 402, 'OPERATIONS_EXHAUSTED']);
    }
    for (const [method, body] of [['PATCH', { state: 'DISABLED' }], ['DELETE']] as const) {
      const reply = await world.call(method, `/destinations/${destinationId}`, body);
      expect([method, ...outcome(reply)]).to.deep.equal([method, 402, 'OPERATIONS_EXHAUSTED']);
    }
    expect(await used(world)).to.equal(100_000);

    const goesOn: [string, unknown][] = [
      [`/messages/${first.id}/renew`, { token: first.token }],
      [`/messages/${first.id}/complete`, { token: first.token, result: { payload: 1 } }],
      [`/messages/${second.id}/nack`, { token: second.token, retry: true }],
      [`/messages/${member.id}/complete`, { token: member.token }],
      [`/task-groups/${group.id}/tasks/${task.taskId}/accept`, undefined],
      [`/task-groups/${group.id}/seal`, undefined],
      [`/barriers/${barriers[1].id}/arrive`, { arrivalKey: 'a' }],
      [`/budgets/${budgetId}/settle`, { reservationId: reservations[0].id, amountMinor: '5', workKey: 'w' }],
      [`/budgets/${budgetId}/void`, { reservationId: reservations[1].id, workKey: 'w' }],
      [`/allowance-waiters/${waiter.waiterId}/cancel`, undefined],
    ];
    for (const [path, body] of goesOn) expect([path, (await world.post(path, body)).status]).to.deep.equal([path, 200]);
    expect((await world.call('PUT', '/limits', { maxBacklog: 7 })).status).to.equal(200);
    // One each, except for the renewal.
    expect(await used(world)).to.equal(100_010);
  });

  it('start afresh with the next month', async () => {
    const world = await World.create({ plan: 'free' });
    const now = new Date();
    await use(world, 100_000);
    expect(outcome(await world.post('/mailboxes', { name: 'x' }))).to.deep.equal([402, 'OPERATIONS_EXHAUSTED']);
    const shown = async () => (await showOrganization(world.service, world.org)).usage;
    expect((await shown()).operations).to.equal(100_000);
    await world.at(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    expect(await shown()).to.include({ operations: 0, rpm: 0 });
    expect((await world.post('/mailboxes', { name: 'x' })).status).to.equal(201);
    expect(await used(world)).to.equal(1);
    expect(await shown()).to.include({ operations: 1, rpm: 1 });
  });

  it('are counted on every other plan, but stop nothing', async () => {
    for (const plan of ['builder', 'team', 'scale', 'preview', 'enterprise']) {
      const world = await World.create({ plan, ...(plan === 'enterprise' && { figures: { operations: '5' } }) });
      await use(world, 100_000_000);
      expect((await world.post('/mailboxes', { name: 'x' })).status, plan).to.equal(201);
      expect(await used(world)).to.equal(100_000_001);
    }
  });
});

describe('the limits of a plan', () => {
  it('refuse a claim with CONCURRENCY_LIMITED, by claims of the organization, only when a message is ready', async () => {
    const world = await World.create({ plan: 'free' });
    const traffic = await Traffic.on(world);
    const scopeId = traffic.scope();
    await Promise.all(Array.from({ length: 12 }, () => traffic.send(scopeId)));
    const recv = (scope: string) =>
      world.post(`/mailboxes/${traffic.work}/recv`, { scopeId: scope, holder: 'h', holderSession: 's' });
    const replies = await Promise.all(Array.from({ length: 40 }, () => recv(scopeId)));
    expect(replies.filter(({ status }) => status === 200)).to.have.length(plans.free.agents as number);
    const refused = replies.find(({ status }) => status !== 200);
    expect(refused && outcome(refused)).to.deep.equal([429, 'CONCURRENCY_LIMITED']);
    expect(Number(refused?.headers.get('Retry-After'))).to.be.at.least(1);
    expect((await recv(randomUUID())).status).to.equal(204);
    await traffic.complete(replies.find(({ status }) => status === 200)?.body);
    expect((await recv(scopeId)).status).to.equal(200);
  });

  it("a plan's limit of tasks refuses sends to a WORK mailbox and submits, but no send to an INBOX", async () => {
    const world = await World.create({ plan: 'enterprise', figures: { tasks: '3' } });
    const traffic = await Traffic.on(world);
    const scopeId = traffic.scope();
    const group = await world.mustPost('/task-groups', { mailboxId: traffic.work, condition: 'ALL_TERMINAL' });
    const send = () => world.post(`/mailboxes/${traffic.work}/messages`, { scopeId, payload: 1 });
    const replies = await Promise.all(Array.from({ length: 20 }, send));
    expect(replies.filter(({ status }) => status === 201)).to.have.length(3);
    expect((await showOrganization(world.service, world.org)).usage).to.include({ agents: 0, runs: 1, tasks: 3 });
    expect(outcome(await send())).to.deep.equal([409, 'ACTIVE_TASKS_LIMITED']);
    expect(outcome(await world.post(`/task-groups/${group.id}/tasks`, { taskKey: 'a' }))).to.deep.equal([
      409,
      'ACTIVE_TASKS_LIMITED',
    ]);
    await traffic.note(scopeId);
    const claim = await traffic.claim(scopeId);
    expect(outcome(await send())).to.deep.equal([409, 'ACTIVE_TASKS_LIMITED']);
    await traffic.complete(claim);
    await world.mustPost(`/task-groups/${group.id}/tasks`, { taskKey: 'a' });
  });

  it('refuse a call with ACTIVE_RUNS_LIMITED only if it would create a new root scope; idle roots do not count', async () => {
    const world = await World.create({ plan: 'enterprise', figures: { runs: '2' } });
    const traffic = await Traffic.on(world);
    const idle = randomUUID();
    await world.mustPost('/barriers', { scopeId: idle, target: 1 });
    const [first, second] = [traffic.scope(), traffic.scope()];
    await traffic.send(first);
    await traffic.note(second);
    const [{ id: budgetId }] = (await world.get('/budgets')).body.budgets;
    const [{ id: allowanceId }] = (await world.get('/allowances')).body.allowances;
    const use = (scopeId: string): [string, object][] => [
      [`/mailboxes/${traffic.work}/messages`, { scopeId, payload: 1 }],
      ['/barriers', { scopeId, target: 1 }],
      ['/task-groups', { parentScopeId: scopeId, mailboxId: traffic.work, condition: 'ALL_TERMINAL' }],
      [`/budgets/${budgetId}/reserve`, { scopeId, holder: 'h', amountMinor: '5' }],
      [`/allowances/${allowanceId}/consume`, { scopeId, holder: 'h', units: 1 }],
      [`/allowances/${allowanceId}/wait`, { scopeId, holder: 'h', units: 1 }],
    ];
    for (const [path, body] of use(randomUUID())) {
      expect([path, ...outcome(await world.post(path, body))]).to.deep.equal([path, 409, 'ACTIVE_RUNS_LIMITED']);
    }
    for (const [path, body] of [...use(first), ...use(idle)])
      expect([path, (await world.post(path, body)).status]).to.deep.equal([path, 201]);
    const [{ body: claim }] = await Promise.all([
      world.post(`/mailboxes/${traffic.inbox}/recv`, { scopeId: second, holder: 'h', holderSession: 's' }),
    ]);
    await traffic.complete(claim);
    expect(outcome(await world.post('/barriers', { scopeId: randomUUID(), target: 1 }))).to.deep.equal([
      409,
      'ACTIVE_RUNS_LIMITED',
    ]);
    await traffic.complete(await traffic.claim(first));
    await traffic.complete(await traffic.claim(idle));
    await world.mustPost('/barriers', { scopeId: randomUUID(), target: 1 });
  });

  it("reserve a fifth of the organization's rate for recovery calls: SERVICE_RATE_LIMITED until the next minute", async () => {
    const world = await World.create({ plan: 'enterprise', figures: { rpm: '20' } });
    const minute = Math.ceil(Date.now() / 60_000) * 60_000;
    await world.at(minute);
    const traffic = await Traffic.on(world);
    const scopeId = traffic.scope();
    await traffic.send(scopeId);
    const claim = await traffic.claim(scopeId);
    // 6 so far.
    const reads = await Promise.all(Array.from({ length: 20 }, () => world.get('/budgets')));
    expect(reads.filter(({ status }) => status === 200)).to.have.length(10);
    const refused = await world.get('/budgets');
    expect(outcome(refused)).to.deep.equal([429, 'SERVICE_RATE_LIMITED']);
    expect(refused.headers.get('Retry-After')).to.equal('60');
    const renewals = await Promise.all(
      Array.from({ length: 6 }, () => world.post(`/messages/${claim.id}/renew`, { token: claim.token })),
    );
    expect(renewals.filter(({ status }) => status === 200)).to.have.length(4);
    await world.at(minute + 60_000 - 1);
    expect((await world.get('/census')).status).to.equal(429);
    await world.at(minute + 60_000);
    expect((await world.get('/census')).status).to.equal(200);
  });
});
