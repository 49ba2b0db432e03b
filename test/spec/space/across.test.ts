import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';

const planOf = (plan: Record<string, string>) => ({ plan: 'enterprise', figures: plan });

/** A second space of the same organization, with a high enough rate. */
const besides = (world: World) => world.anotherSpace({ requestsPerMinute: 100_000 });

describe('Counts across all spaces of an organization', () => {
  const scopeId = randomUUID();
  const queue = async (world: World): Promise<string> => (await world.mustPost('/mailboxes', { name: 'q' })).id;
  const send = (world: World, mailbox: string, scope: string = scopeId) =>
    world.post(`/mailboxes/${mailbox}/messages`, { scopeId: scope, payload: 1 });
  const recv = (world: World, mailbox: string) =>
    world.post(`/mailboxes/${mailbox}/recv`, { scopeId, holder: 'a', holderSession: 's' });

  it('include agents working at once', async () => {
    const here = await World.create(planOf({ agents: '2' }));
    const there = await besides(here);
    const [one, two] = [await queue(here), await queue(there)];
    for (const [world, mailbox] of [
      [here, one],
      [here, one],
      [there, two],
    ] as const)
      await send(world, mailbox);
    const claim = (await recv(here, one)).body;
    expect((await recv(here, one)).status).to.equal(200);
    expect(codeOf(await recv(there, two))).to.equal('429 CONCURRENCY_LIMITED');
    await here.mustPost(`/messages/${claim.id}/complete`, { token: claim.token });
    expect((await recv(there, two)).status).to.equal(200);
  });

  it('include active tasks', async () => {
    const here = await World.create(planOf({ tasks: '2' }));
    const there = await besides(here);
    const [one, two] = [await queue(here), await queue(there)];
    expect((await send(here, one)).status).to.equal(201);
    expect((await send(there, two)).status).to.equal(201);
    expect(codeOf(await send(here, one))).to.equal('409 ACTIVE_TASKS_LIMITED');
    expect(codeOf(await send(there, two))).to.equal('409 ACTIVE_TASKS_LIMITED');
  });

  it('include active runs', async () => {
    const here = await World.create(planOf({ runs: '1' }));
    const there = await besides(here);
    const [one, two] = [await queue(here), await queue(there)];
    expect((await send(here, one)).status).to.equal(201);
    expect(codeOf(await send(there, two, randomUUID()))).to.equal('409 ACTIVE_RUNS_LIMITED');
    const claim = (await recv(here, one)).body;
    await here.mustPost(`/messages/${claim.id}/complete`, { token: claim.token });
    expect((await send(there, two, randomUUID())).status).to.equal(201);
  });

  it('include what waits and since when, as metrics show it', async () => {
    const here = await World.create();
    const there = await besides(here);
    const now = Date.now();
    for (const [i, world] of [here, there].entries()) {
      await here.at(now + i * 1000);
      await send(world, await queue(world));
      const { id } = await world.mustPost('/allowances', { name: 'a', unitsLimit: 1, windowSeconds: 86_400 });
      const one = { scopeId, units: 1, holder: 'h' };
      await world.mustPost(`/allowances/${id}/consume`, one);
      for (const later of [100, 200]) {
        await here.at(now + i * 1000 + later);
        await world.mustPost(`/allowances/${id}/wait`, one);
      }
    }
    await there.mustPost('/destinations', { url: 'https://127.0.0.1:9/hook', eventTypes: ['waiter.expired'] });
    await queue(there);
    await here.at(now + 5000);
    const counters = 'messages:READY,waiters:WAITING,outbox:UNREAD';
    const args = { spaceId: '', requestId: '', counters, ages: 'oldestReadyAt,oldestWaitingAt', maxSpaces: 10 };
    expect(await here.service.scripts.execute('space/depths', here.org, args)).to.deep.equal([
      2,
      2,
      [2, 4, 1],
      [5000, 4900],
      null,
      0,
    ]);
    const first = await here.service.scripts.execute('space/depths', here.org, { ...args, maxSpaces: 1 });
    expect(first).to.deep.equal([1, 2, [1, 2, 0], [5000, 4900], null, 0]);
  });

  it('include operations of the month and requests of the minute', async () => {
    const here = await World.create({ plan: 'free' });
    const there = await besides(here);
    const now = Date.now();
    await here.at(now);
    await here.service.store.hset(`muster:{${here.org}}`, 'usedRequests', 0);
    await queue(here);
    await here.service.store.hset(`muster:{${here.org}}`, 'usedOperations', 99_999);
    const last = await queue(there);
    expect(codeOf(await here.post('/mailboxes', { name: 'q' }))).to.equal('402 OPERATIONS_EXHAUSTED');
    expect(codeOf(await send(there, last))).to.equal('402 OPERATIONS_EXHAUSTED');
    // Ordinary calls may use four fifths of the 600 a minute, in whichever space.
    await here.service.store.hset(`muster:{${here.org}}`, 'usedRequests', 479);
    expect((await here.get('/limits')).status).to.equal(200);
    expect(codeOf(await there.get('/budgets'))).to.equal('429 SERVICE_RATE_LIMITED');
  });
});
