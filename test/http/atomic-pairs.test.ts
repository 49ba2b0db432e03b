import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Route } from '../../src/engine/route/route.ts';
import type { Objects } from '../attack/support/objects.ts';
import { longMs, many } from '../support/long.ts';
import { type Call, routeOf, routes, Stage } from '../support/stage.ts';
import type { World } from '../support/world.ts';

const isLater = (index: number): boolean => index % many(149, 1) === 0;

/** The id that each of these calls makes. */
const makers: Readonly<Record<string, string>> = {
  'message.send': 'messageId',
  'group.create': 'groupId',
  'scope.create': 'scopeId',
  'mailbox.create': 'mailboxId',
  'budget.create': 'budgetId',
  'budget.reserve': 'reservationId',
  'barrier.create': 'barrierId',
  'allowance.create': 'allowanceId',
  'allowance.wait': 'waiterId',
  'pool.create': 'poolId',
  'pool.acquire': 'holdId',
};

/** Work in one mailbox, group, pool and allowance, in which each call changes what the others depend on. */
async function entangle(world: World, { scopeId = '' }: Objects): Promise<Objects> {
  const name = () => `n-${randomUUID()}`;
  const { id: mailboxId } = await world.mustPost('/mailboxes', { name: name(), perKey: 1 });
  const { id: poolId } = await world.mustPost('/pools', { name: name(), units: 1 });
  const { groupId } = await world.mustPost('/task-groups', {
    mailboxId,
    condition: 'ALL_TERMINAL',
    parentScopeId: scopeId,
  });
  const submit = (fields: object) => world.mustPost(`/task-groups/${groupId}/tasks`, { input: 1, ...fields });
  const { taskId } = await submit({ taskKey: 'a', key: 'k', requires: { pools: [{ poolId }] } });
  await submit({ taskKey: 'b', key: 'k' });
  const receive = { scopeId: '*', holder: 'h', holderSession: 's', leaseSeconds: 600 };
  const claim = await world.mustPost(`/mailboxes/${mailboxId}/recv`, receive);
  const send = (fields: object) =>
    world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId, payload: 1, ...fields });
  await send({ after: [{ messageId: claim.id }, { groupId }], delaySeconds: 600 });
  await send({ after: [{ messageId: claim.id }], onFailure: 'RUN', priority: 3 });
  const outside = await send({});
  const acquire = { scopeId, holder: 'w', holderSession: 't', leaseSeconds: 600, ttlSeconds: 3600 };
  const hold = await world.mustPost(`/pools/${poolId}/acquire`, acquire);
  await world.mustPost(`/pools/${poolId}/acquire`, { ...acquire, holderSession: 'u' });
  const { id: allowanceId } = await world.mustPost('/allowances', {
    name: name(),
    unitsLimit: 1,
    windowSeconds: 86_400,
  });
  await world.mustPost(`/allowances/${allowanceId}/consume`, { scopeId, units: 1, holder: 'h' });
  const wait = { scopeId, units: 1, holder: 'h', ttlSeconds: 3600 };
  const waiter = await world.mustPost(`/allowances/${allowanceId}/wait`, wait);
  await world.mustPost(`/allowances/${allowanceId}/wait`, wait);
  const messages = { messageId: claim.id, readyMessageId: claim.id, cancelledMessageId: claim.id };
  const holds = { holdId: hold.id, releasedHoldId: hold.id, waitingHoldId: hold.id };
  return {
    ...{ ...messages, ...holds, mailboxId, groupId, taskId, poolId, allowanceId, token: claim.token },
    ...{ emptyMailboxId: mailboxId, emptyPoolId: poolId, spareKey: 'plan', outsideTaskId: outside.id },
    ...{ waiterId: waiter.id, 'hold.renew token': hold.token, 'hold.release token': hold.token },
  };
}

/** Numbers from 0 to 1 that are the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('Every two calls in an atomic batch do what they do one after the other, or nothing,', function () {
  this.timeout(longMs);

  async function compare(stage: Stage, pairs: readonly (readonly Call[])[]): Promise<void> {
    const problems: string[] = [];
    for (const calls of pairs) {
      const problem = await stage.differenceOf(calls);
      if (problem !== undefined)
        problems.push(`${calls.map(({ call }) => call).join(', ')}: ${problem}`.slice(0, 2000));
    }
    expect(problems.join('\n')).to.equal('');
  }

  const pairsOf = (stage: Stage): Call[][] =>
    routes.flatMap((a) => routes.map((b) => [stage.callOf(a), stage.callOf(b)])).filter((_, index) => isLater(index));

  it('on objects that are ready for them', async () => {
    const stage = await Stage.create(async () => ({}));
    await compare(stage, pairsOf(stage));
  });

  it('on the same objects', async () => {
    const stage = await Stage.create(entangle);
    // Without a token, it renews a hold that waits.
    const waitOn = { call: 'hold.renew', holdId: stage.objects.waitingHoldId, ttlSeconds: 60 };
    const withWait = routes.flatMap((route) => [
      [waitOn, stage.callOf(route)],
      [stage.callOf(route), waitOn],
    ]);
    await compare(stage, [...pairsOf(stage), ...withWait.filter((_, index) => isLater(index))]);
  });

  it('on an object that the first of them makes', async () => {
    const stage = await Stage.create(entangle);
    const kindOf = (route: Route): string | undefined => /\/:(\w+Id)/.exec(route.path)?.[1];
    const pairs = Object.entries(makers).flatMap(([call, kind]) =>
      routes
        .filter((route) => kindOf(route) === kind)
        .map((route) => [stage.callOf(routeOf({ call })), { ...stage.callOf(route), [kind]: { $from: 0 } }]),
    );
    expect(pairs.length).to.be.above(30);
    await compare(stage, pairs);
  });

  it('longer batches do, too: a group to its decision, money between budgets, a queue served twice', async () => {
    const stage = await Stage.create(entangle);
    const { mailboxId, scopeId, budgetId, allowanceId, poolId, messageId, token, taskId, groupId } = stage.objects;
    const holder = 'h';
    const group = { call: 'group.create', mailboxId, condition: 'FIRST_ACCEPTED' };
    const submit = { call: 'task.submit', groupId: { $from: 0 } };
    const wait = { call: 'allowance.wait', allowanceId, scopeId, units: 1, holder, ttlSeconds: 60 };
    const acquire = { call: 'pool.acquire', poolId, scopeId, holder, holderSession: 's', ttlSeconds: 60 };
    await compare(stage, [
      [
        group,
        { ...submit, taskKey: 'a' },
        { ...submit, taskKey: 'b' },
        { call: 'group.seal', groupId: { $from: 0 } },
        { call: 'group.view', groupId: { $from: 0 } },
      ],
      [group, { call: 'group.seal', groupId: { $from: 0 } }, { call: 'group.view', groupId: { $from: 0 } }],
      [
        { call: 'message.complete', messageId, token },
        { call: 'task.accept', groupId, taskId },
        { call: 'group.seal', groupId },
        { call: 'group.view', groupId },
        { call: 'mailbox.view', mailboxId },
      ],
      [
        { call: 'budget.create', name: 'b', currency: 'EUR', scale: 2, limitMinor: '1000000000000' },
        { call: 'budget.reserve', budgetId, scopeId, holder, amountMinor: '100' },
        { call: 'budget.settle', budgetId, reservationId: { $from: 1 }, amountMinor: '40', workKey: 'w' },
        { call: 'budget.void', budgetId, reservationId: { $from: 1 }, workKey: 'w' },
        { call: 'budget.update', budgetId: { $from: 0 }, limitMinor: '999999999999' },
        { call: 'budget.reserve', budgetId: { $from: 0 }, scopeId, holder, amountMinor: '999999999999', workKey: 'w' },
        { call: 'budget.view', budgetId: { $from: 0 } },
      ],
      [
        wait,
        { call: 'allowance.update', allowanceId, unitsLimit: 2 },
        { call: 'allowance.update', allowanceId, unitsLimit: 10 },
        { call: 'waiter.view', waiterId: { $from: 0 } },
        { call: 'allowance.consume', allowanceId, scopeId, units: 1, holder },
      ],
      [wait, wait, { call: 'waiter.cancel', waiterId: { $from: 0 } }, { call: 'waiter.view', waiterId: { $from: 1 } }],
      [wait, { ...wait, units: 7 }, { call: 'allowance.update', allowanceId, unitsLimit: 6 }],
      [
        acquire,
        { call: 'message.complete', messageId, token },
        { call: 'pool.update', poolId, units: 2 },
        { call: 'pool.update', poolId, units: 3 },
        { call: 'hold.view', holdId: { $from: 0 } },
        { call: 'pool.view', poolId },
      ],
      [
        acquire,
        { call: 'hold.renew', holdId: { $from: 0 }, ttlSeconds: 30 },
        { call: 'hold.renew', holdId: { $from: 0 } },
        { call: 'message.complete', messageId, token },
        { call: 'pool.update', poolId, units: 3 },
        { call: 'hold.view', holdId: { $from: 0 } },
      ],
      [acquire, acquire, { call: 'hold.cancel', holdId: { $from: 0 } }, { call: 'hold.view', holdId: { $from: 1 } }],
      [
        { call: 'message.send', mailboxId, scopeId, payload: 1, after: [{ messageId }] },
        { call: 'message.send', mailboxId, scopeId, payload: 1, after: [{ messageId: { $from: 0 } }], key: 'k' },
        { call: 'message.view', messageId: { $from: 1 } },
        { call: 'message.cancel', messageId },
        { call: 'message.view', messageId: { $from: 1 } },
      ],
      [
        { call: 'message.send', mailboxId, scopeId, payload: 1, key: 'k' },
        { call: 'mailbox.update', mailboxId, perKey: 5 },
        { call: 'message.view', messageId: { $from: 0 } },
      ],
      [
        { call: 'limits.put', maxBacklog: 3, requestsPerMinute: 50_000 },
        { call: 'message.send', mailboxId, scopeId, payload: 1 },
      ],
      [
        { call: 'limits.put', maxBacklog: 90, maxPendingWaiters: 90, maxArmedTimers: 900, maxLeaseSeconds: 500 },
        { call: 'message.send', mailboxId, scopeId, payload: 1, deadline: '2099-01-31T12:00:00.000Z' },
        wait,
        { call: 'message.renew', messageId, token },
        { call: 'mailbox.create', name: 'twice' },
        { call: 'mailbox.create', name: 'twice', unique: true },
      ],
    ]);
  });

  it('random batches of up to 25 calls do, with a rollback where one is refused', async () => {
    const stage = await Stage.create(entangle);
    const random = randomOf(many(7, 77));
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    /** A call about objects that exist or that earlier calls make. made: their indexes, by the name of the id that they make. */
    const next = (made: Map<string, number[]>): Call => {
      const call = stage.callOf(pick(routes));
      // Names and keys of its own, so that more of them happen.
      for (const name of ['workKey', 'taskKey', 'arrivalKey', 'name']) if (name in call) call[name] = `${random()}`;
      if (call['call'] === 'budget.create' && made.has('budgetId')) call['parentBudgetId'] = stage.objects['budgetId'];
      for (const name of Object.keys(call)) {
        const places = made.get(name === 'parentBudgetId' ? 'budgetId' : name);
        if (places && random() < 0.7) call[name] = { $from: pick(places) };
      }
      return call;
    };
    const batches = Array.from({ length: many(12, 1500) }, () => {
      const made = new Map<string, number[]>();
      return Array.from({ length: 3 + Math.floor(random() * 23) }, (_, index) => {
        const call = next(made);
        const kind = makers[String(call['call'])];
        if (kind !== undefined) made.set(kind, [...(made.get(kind) ?? []), index]);
        return call;
      });
    });
    const happening: Call[][] = [];
    const fine = { call: 'mailbox.view', mailboxId: stage.objects['mailboxId'] };
    for (const calls of batches) {
      let rest = calls;
      // With another call in place of each refused one, the rest happens.
      for (;;) {
        const { results } = await stage.inSequence(rest);
        if ((results.at(-1)?.status ?? 500) < 300) break;
        rest = rest.with(results.length - 1, fine);
      }
      happening.push(rest);
    }
    await compare(stage, [...batches, ...happening]);
  });

  it('with each call at each place of a batch that is refused', async () => {
    const stage = await Stage.create(async () => ({}));
    const refused = { call: 'barrier.view', barrierId: randomUUID() };
    const fine = { call: 'barrier.arrive', barrierId: stage.objects['barrierId'], arrivalKey: 'k' };
    const batches = routes.flatMap((route, index) => {
      const call = stage.callOf(route);
      const all = [
        [refused, call],
        [call, refused],
        [fine, call, refused],
        [call, fine, refused],
      ];
      return all.filter((_, place) => place % many(4, 1) === index % many(4, 1));
    });
    await compare(stage, batches);
  });
});
