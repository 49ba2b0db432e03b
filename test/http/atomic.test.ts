import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Queue } from '../spec/mailbox/queue.ts';
import { expectAgreement } from '../support/agree.ts';
import { codeOf, type Reply, type World } from '../support/world.ts';

type Call = Record<string, unknown>;

const minute = 60_000;

describe('An atomic batch', () => {
  let queue: Queue;
  let world: World;
  let to: { mailboxId: string; scopeId: string };
  let budgetId: string;

  const post = (calls: unknown, headers: Record<string, string> = {}): Promise<Reply> =>
    world.post('/batch', { atomic: true, calls }, headers);
  const send = (fields: Call = {}): Call => ({ call: 'message.send', ...to, payload: 1, ...fields });
  const reserve = (fields: Call = {}): Call => {
    const { scopeId } = to;
    return { call: 'budget.reserve', budgetId, scopeId, holder: 'h', amountMinor: '10', ...fields };
  };
  /** The code of a refusal and the place of the call that was refused. */
  const refusalOf = (reply: Reply): string => `${codeOf(reply)} ${reply.body.error?.index} ${reply.body.error?.call}`;
  const ready = async (): Promise<number> => (await queue.record()).counts.ready;
  const used = async (name = 'usedRequests'): Promise<number> =>
    Number(await world.service.store.hget(`muster:{${world.org}}:${world.spaceId}`, name));

  beforeEach(async () => {
    queue = await Queue.create();
    world = queue.world;
    to = { mailboxId: queue.id, scopeId: queue.scopeId };
    const budget = { name: 'b', currency: 'EUR', scale: 2, limitMinor: '100' };
    ({ id: budgetId } = await world.mustPost('/budgets', budget));
  });

  it('carries out its calls in order, each seeing those before it, and names what earlier ones have made', async () => {
    const reply = await post([
      { call: 'scope.create', name: 'run' },
      send({ scopeId: { $from: 0 }, payload: { $from: 0 } }),
      send({ after: [{ messageId: { $from: 1 } }], workKey: 'w' }),
      send({ workKey: 'w', expect: { replay: true, id: { $from: 2 } } }),
      { call: 'message.view', messageId: { $from: 3 }, expect: { state: 'BLOCKED' } },
      reserve({ scopeId: { $from: 1, member: 'id' } }),
      { call: 'budget.settle', budgetId, reservationId: { $from: 5 }, amountMinor: '4', workKey: 'w' },
      { call: 'budget.view', budgetId, expect: { balances: { available: '90', settled: '4' } } },
      {
        call: 'mailbox.view',
        mailboxId: { $from: 1, member: 'mailboxId' },
        expect: { counts: { ready: 1, blocked: 1 } },
      },
    ]);
    expect(reply.status, reply.text).to.equal(200);
    const [scope, first, second, again, view, reservation, settled, budget] = reply.body.results.map(
      ({ body }: { body: unknown }) => body,
    );
    expect(reply.body.results.map(({ status }: { status: number }) => status)).to.deep.equal([
      ...[201, 201, 201, 200, 200, 201, 200, 200, 200],
    ]);
    expect((await world.get(`/messages/${first.id}`)).body).to.deep.include({
      scopeId: scope.id,
      payload: { $from: 0 },
    });
    expect(view).to.deep.include({ id: second.id, blockedBy: [{ kind: 'MESSAGE', id: first.id }] });
    expect(again.id).to.equal(second.id);
    expect(settled.entry).to.include({ reservationId: reservation.id, budgetId });
    expect(settled.balances).to.deep.equal(budget.balances);
    expect(budget).to.not.have.any.keys('reservations', 'nextCursor');
    expect(reservation.scopeId).to.equal(first.id);
    await expectAgreement(world);
  });

  it('is refused as a whole with the status and envelope of the call that is refused, and its place', async () => {
    const before = await used();
    const cases: [Call[], string][] = [
      [[send(), reserve({ amountMinor: '101' })], '409 INSUFFICIENT_BUDGET 1 budget.reserve'],
      [[send(), { call: 'barrier.view', barrierId: randomUUID() }, send()], '404 BARRIER_NOT_FOUND 1 barrier.view'],
      [
        [send(), { call: 'budget.view', budgetId, expect: { balances: { available: '7' } } }],
        '409 EXPECTATION_FAILED 1 budget.view',
      ],
      [[reserve(), send({ expect: { state: 'DELAYED' } })], '409 EXPECTATION_FAILED 1 message.send'],
      [[send({ mailboxId: randomUUID() }), send()], '404 MAILBOX_NOT_FOUND 0 message.send'],
      [[{ call: 'group.join', groupId: randomUUID(), taskId: randomUUID() }], '404 GROUP_NOT_FOUND 0 group.join'],
    ];
    for (const [calls, outcome] of cases) {
      const reply = await post(calls);
      expect(refusalOf(reply)).to.equal(outcome);
      expect(Object.keys(reply.body.error)).to.deep.equal(['code', 'message', 'requestId', 'index', 'call']);
    }
    expect((await used()) - before).to.equal(cases.length);
    expect(await ready()).to.equal(0);
    expect((await world.get('/census')).body).to.deep.include({ scopes: { ACTIVE: 0, IDLE: 0, CANCELLED: 0 } });
    const failed = await post([{ call: 'budget.view', budgetId, expect: { balances: { available: '7' } } }]);
    expect(failed.body.error.message).to.equal(
      'balances.available is 100, but the call expects 7: no call of the batch took effect',
    );
    await expectAgreement(world);
  });

  it('judges all shapes and permissions before anything else', async () => {
    const invalid = '400 VALIDATION_FAILED';
    const unknown = send({ mailboxId: randomUUID() });
    const cases: [Call[], string][] = [
      [[unknown, send({ priority: 10 })], `${invalid} 1 message.send`],
      [[unknown, { call: 'message.recv', ...to, holder: 'h', holderSession: 's' }], `${invalid} 1 message.recv`],
      [[unknown, { call: 'scope.cancel', scopeId: to.scopeId }], `${invalid} 1 scope.cancel`],
      [[unknown, { call: 'mailbox.purge', mailboxId: queue.id }], `${invalid} 1 mailbox.purge`],
      [[unknown, { call: 'schedule.delete', scheduleId: randomUUID() }], `${invalid} 1 schedule.delete`],
      [[unknown, { call: 'budget.list' }], `${invalid} 1 budget.list`],
      [[unknown, { call: 'budget.view', budgetId, limit: 5 }], `${invalid} 1 budget.view`],
      [[unknown, { call: 'barrier.view', barrierId: randomUUID(), waitSeconds: 1 }], `${invalid} 1 barrier.view`],
      [[unknown, send({ idempotencyKey: 'k' })], `${invalid} 1 message.send`],
      [[unknown, send({ scopeId: { $from: 1 } })], `${invalid} 1 message.send`],
      [[unknown, send({ scopeId: { $from: 0, member: 'state' } })], `${invalid} 1 message.send`],
      [[unknown, send({ scopeId: { $from: 0, member: 'nothing' } })], `${invalid} 1 message.send`],
      [
        [unknown, { call: 'mailbox.delete', mailboxId: queue.id }, send({ scopeId: { $from: 1 } })],
        `${invalid} 2 message.send`,
      ],
      ...[{ nothing: 1 }, { state: 5 }, { id: 'x' }, { createdAt: null }, [], { state: 'x'.repeat(5000) }].map(
        (wrong): [Call[], string] => [
          [unknown, { call: 'message.view', messageId: randomUUID(), expect: wrong }],
          `${invalid} 1 message.view`,
        ],
      ),
    ];
    for (const [calls, outcome] of cases)
      expect(refusalOf(await post(calls)), JSON.stringify(calls)).to.contain(outcome.replace(' 0 message.send', ''));
    const limited = { Authorization: `Bearer ${await world.key(['coordination_write'])}` };
    const denied = await post([unknown, reserve(), send({ priority: 10 })], limited);
    expect(refusalOf(denied)).to.equal('403 PERMISSION_DENIED 1 budget.reserve');
    expect(refusalOf(await post([unknown, reserve()], limited))).to.equal('403 PERMISSION_DENIED 1 budget.reserve');
    expect((await post([send()], limited)).status).to.equal(200);
  });

  it('finds ids that are named twice, be it by reference or as text', async () => {
    const group = await world.mustPost('/task-groups', { mailboxId: queue.id, condition: 'FIRST_ACCEPTED' });
    const pool = await world.mustPost('/pools', { name: randomUUID(), units: 9 });
    const first = send({ workKey: 'first' });
    const { id } = await world.mustPost(`/mailboxes/${queue.id}/messages`, {
      scopeId: to.scopeId,
      payload: 1,
      workKey: 'known',
    });
    const known = send({ workKey: 'known' });
    const behind = (...messageIds: unknown[]) => send({ after: messageIds.map((messageId) => ({ messageId })) });
    const twice = async (calls: Call[]) => {
      const reply = await post(calls);
      expect(codeOf(reply)).to.equal('400 VALIDATION_FAILED');
      return `${reply.body.error.index} ${reply.body.error.message}`;
    };
    const before = await ready();
    const again = 'after[1] repeats an id';
    expect(await twice([first, behind({ $from: 0 }, { $from: 0 })])).to.equal(`1 ${again}`);
    expect(await twice([known, behind({ $from: 0 }, id.toUpperCase())])).to.equal(`1 ${again}`);
    expect(await twice([known, known, behind({ $from: 0 }, { $from: 1 })])).to.equal(`2 ${again}`);
    const view = { call: 'pool.view', poolId: pool.id };
    const requires = { pools: [{ poolId: pool.id }, { poolId: { $from: 0 } }] };
    expect(await twice([view, send({ requires })])).to.equal('1 requires.pools[1] repeats an id');
    const own = { call: 'task.submit', groupId: group.groupId, taskKey: 'a', after: [{ groupId: { $from: 0 } }] };
    expect(await twice([{ call: 'group.view', groupId: group.groupId }, own])).to.equal(
      '1 after must not name the group that the task is submitted to',
    );
    expect(await ready()).to.equal(before);
    expect((await post([known, first, behind({ $from: 0 }, { $from: 1 })])).status).to.equal(200);
  });

  it('takes 1 to 25 calls, and a key where one of them needs one', async () => {
    expect((await post(Array.from({ length: 25 }, () => send()))).status).to.equal(200);
    for (const calls of [[], Array.from({ length: 26 }, () => send())])
      expect(codeOf(await post(calls))).to.equal('400 VALIDATION_FAILED');
    const without = async (calls: Call[]): Promise<Reply> =>
      world.send('POST', `/v1/spaces/${world.spaceId}/batch`, JSON.stringify({ atomic: true, calls }), {
        Authorization: `Bearer ${world.apiKey}`,
        'Content-Type': 'application/json',
      });
    const view = { call: 'mailbox.view', mailboxId: queue.id };
    expect(refusalOf(await without([view, send()]))).to.equal('400 IDEMPOTENCY_KEY_REQUIRED 1 message.send');
    expect((await without([view, { call: 'mailbox.pause', mailboxId: queue.id }])).status).to.equal(200);
    expect(codeOf(await world.post('/batch', { atomic: 1, calls: [view] }))).to.equal('400 VALIDATION_FAILED');
  });

  it('only is what takes reads and expectations', async () => {
    const reply = await world.post('/batch', {
      calls: [send({ expect: { state: 'READY' } }), { call: 'budget.view', budgetId }, send()],
    });
    expect(reply.body.results.map(({ status }: Reply) => status)).to.deep.equal([400, 400, 201]);
  });

  it('is covered by its key as a whole: a replay answers as before, with null for what it read', async () => {
    const key = { 'Idempotency-Key': 'k' };
    const view = { call: 'message.view', messageId: { $from: 0 }, expect: { state: 'READY' } };
    const calls = [send(), view, { call: 'message.cancel', messageId: { $from: 1 } }, reserve()];
    const first = await post(calls, key);
    expect(first.status, first.text).to.equal(200);
    await world.call('PATCH', `/budgets/${budgetId}`, { limitMinor: '10' });
    const again = await post(calls, key);
    expect([again.status, again.headers.get('Idempotent-Replayed')]).to.deep.equal([200, 'true']);
    const expected = structuredClone(first.body.results);
    for (const result of expected) {
      result.replayed = true;
      if (result.body && 'replay' in result.body) result.body.replay = true;
    }
    expected[0].status = 200;
    expected[1].body = null;
    expect(again.body.results).to.deep.equal(expected);
    for (const others of [calls.slice(0, 2), [view], [...calls, send()]])
      expect(
        codeOf(
          await post(
            others.map((call) => ({ ...call, ...(call === view && { messageId: first.body.results[0].body.id }) })),
            key,
          ),
        ),
      ).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    expect(
      codeOf(await queue.world.post(`/mailboxes/${queue.id}/messages`, { scopeId: to.scopeId, payload: 1 }, key)),
    ).to.equal('422 IDEMPOTENCY_KEY_REUSED');
    expect(codeOf(await world.post('/batch', { calls: [send()] }, key))).to.equal('200');
    // What is refused is not kept.
    const later = { 'Idempotency-Key': 'later' };
    const waits = [send(), reserve({ amountMinor: '50' })];
    expect(codeOf(await post(waits, later))).to.equal('409 INSUFFICIENT_BUDGET');
    await world.call('PATCH', `/budgets/${budgetId}`, { limitMinor: '100' });
    expect((await post(waits, later)).status).to.equal(200);
  });

  it('counts as many requests and operations as it has calls, and is never done in part by the rates', async () => {
    const start = (Math.floor(Date.now() / minute) + 2) * minute + 10_000;
    await world.at(start);
    const before = [await used(), await used('op:message.send')];
    const reply = await post([send(), send(), { call: 'mailbox.view', mailboxId: queue.id }]);
    expect(reply.status).to.equal(200);
    expect(reply.headers.get('RateLimit')).to.match(/^"space";r=99\d+;t=50$/);
    expect([(await used()) % 1000, await used('op:message.send')]).to.deep.equal([3, (before[1] ?? 0) + 2]);
    await world.call('PUT', '/limits', { requestsPerMinute: 8 });
    const sends = Array.from({ length: 5 }, () => send());
    const refused = await post(sends);
    expect(refusalOf(refused)).to.equal('429 RATE_LIMITED 4 message.send');
    expect(refused.headers.get('Retry-After')).to.equal('50');
    expect(await used(), 'what the rates refuse is not counted').to.equal(4);
    expect(await ready()).to.equal(2);
    expect((await post(sends.slice(2))).status).to.equal(200);
    expect(codeOf(await post([send()]))).to.equal('429 RATE_LIMITED');
    const claimless = { call: 'message.cancel', messageId: reply.body.results[0].body.id };
    expect((await post([claimless, claimless])).status, 'recovery calls alone').to.equal(200);
    expect(codeOf(await post([claimless, send()]))).to.equal('429 RATE_LIMITED');
  });

  it('waits as a whole for what is due, and sees it', async () => {
    const claim = await (async () => {
      await queue.sent({ delaySeconds: 60, key: 'k' });
      await queue.sent({ payload: 'claimed' });
      return queue.claim({ leaseSeconds: 30 });
    })();
    await world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 1 });
    const wait = async (amount: string) =>
      world.mustPost(`/budgets/${budgetId}/reserve`, {
        scopeId: to.scopeId,
        holder: 'h',
        amountMinor: amount,
        settleBy: new Date(Date.now() + 40_000).toISOString(),
      });
    const reservation = await wait('5');
    await world.at(Date.now() + 61_000);
    const reply = await post([
      send({ key: 'k' }),
      { call: 'message.view', messageId: claim.id, expect: { state: 'READY', attempts: 1 } },
      { call: 'budget.settle', budgetId, reservationId: reservation.id, amountMinor: '5', workKey: 'w' },
    ]);
    expect(reply.status, reply.text).to.equal(200);
    expect(reply.body.results[2].body.reservation.overdue).to.equal(true);
    expect((await world.get(`/messages/${reply.body.results[0].body.id}`)).body.state).to.equal('BLOCKED');
    await expectAgreement(world);
  });

  it('moves money between two budgets, 200 at once, and never shows a reader a half', async () => {
    const { id: otherId } = await world.mustPost('/budgets', {
      name: 'c',
      currency: 'EUR',
      scale: 2,
      limitMinor: '100',
    });
    const view = (id: string): Call => ({ call: 'budget.view', budgetId: id });
    const limits = async (): Promise<[number, number]> => {
      const { body } = await post([view(budgetId), view(otherId)]);
      return body.results.map((one: { body: { limitMinor: string } }) => Number(one.body.limitMinor));
    };
    let isOver = false;
    let looks = 0;
    const reader = (async () => {
      while (!isOver) {
        const [one, other] = await limits();
        expect(one + other).to.equal(200);
        looks++;
      }
    })();
    /** Takes an amount out of the first budget by a reservation, and adds it to the second one's limit. */
    const move = async (n: number): Promise<void> => {
      for (;;) {
        const [from, to_] = await limits();
        const reply = await post([
          { ...view(budgetId), expect: { limitMinor: `${from}` } },
          { ...view(otherId), expect: { limitMinor: `${to_}` } },
          reserve({ amountMinor: '1', workKey: `m${n}` }),
          { call: 'budget.void', budgetId, reservationId: { $from: 2 }, workKey: `m${n}` },
          { call: 'budget.update', budgetId, limitMinor: `${from - 1}` },
          { call: 'budget.update', budgetId: otherId, limitMinor: `${to_ + 1}` },
        ]);
        if (reply.status === 200) return;
        expect(refusalOf(reply)).to.match(/^409 EXPECTATION_FAILED [01] budget.view$/);
      }
    };
    // Each move lets one of them through and the others try again: their number counts twice.
    await Promise.all(Array.from({ length: 12 }, (_, n) => move(n)));
    const spend = Array.from({ length: 200 }, (_, n) =>
      post([
        reserve({ amountMinor: '1' }),
        { call: 'budget.settle', budgetId, reservationId: { $from: 0 }, amountMinor: '1', workKey: `s${n}` },
        { ...reserve({ amountMinor: '1' }), budgetId: otherId },
      ]),
    );
    const outcomes = (await Promise.all(spend)).map(codeOf);
    isOver = true;
    await reader;
    expect(await limits()).to.deep.equal([88, 112]);
    expect(outcomes.filter((code) => code === '200')).to.have.length(88);
    expect(outcomes.filter((code) => code === '409 INSUFFICIENT_BUDGET')).to.have.length(112);
    const { body } = await world.get(`/budgets/${otherId}`);
    expect(body.balances.reserved).to.equal('88');
    expect(looks).to.be.above(5);
    await expectAgreement(world);
  });
});
