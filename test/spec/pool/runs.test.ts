import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf, World } from '../../support/world.ts';
import { TestPool } from './holds.ts';

const hour = 3_600_000;
const day = 24 * hour;

describe('the holds of a run', () => {
  let world: World;
  let start: number;
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
  });

  it('are in its view, and count as live only while they wait', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    const scope = async () => (await world.get(`/scopes/${pool.scopeId}`)).body;
    expect(await scope()).to.deep.include({ state: 'IDLE', live: { messages: 0, waiters: 0 } });
    const waiting = await pool.acquire();
    expect(await scope()).to.deep.include({ state: 'ACTIVE', live: { messages: 0, waiters: 1 } });
    const { holds } = (await world.get(`/ops/runs/${pool.scopeId}`)).body;
    expect(holds).to.deep.equal([await pool.hold(waiting.id), await pool.hold(held.id)]);
    await expectAgreement(world);
  });

  it('end with its cancel: those that wait are CANCELLED, those that are HELD are released to others', async () => {
    const pool = await TestPool.create(world, 2);
    const held = await pool.acquire({ units: 2 });
    const waiting = await pool.acquire();
    const other = await pool.acquire({ scopeId: randomUUID() });
    const { body } = await world.post(`/scopes/${pool.scopeId}/cancel`);
    expect(body).to.deep.include({
      done: true,
      cancelled: { messages: 0, waiters: 0, holds: 2, questions: 0, barriers: 0, groups: 0 },
    });
    expect(await pool.states(held, waiting)).to.deep.equal(['RELEASED', 'CANCELLED']);
    expect(codeOf(await pool.renew(held))).to.equal('409 CLAIM_LOST');
    expect((await pool.release(held)).status).to.equal(200);
    expect(codeOf(await pool.ask())).to.equal('409 SCOPE_CANCELLED');
    expect(await pool.states(other), 'swept before the next call that changes something').to.deep.equal(['HELD']);
    const { events } = (await world.get('/watch?types=hold.released,hold.cancelled')).body;
    const [asked] = (await world.get('/watch?types=scope.cancelled')).body.events;
    for (const { requestId } of events) expect(requestId).to.equal(asked.requestId);
    await expectAgreement(world);
  });

  it('waiting at the head of the queue make way with its cancel for those behind them', async () => {
    const pool = await TestPool.create(world, 2);
    const scopeId = randomUUID();
    await pool.acquire({ scopeId });
    const head = await pool.acquire({ units: 2 });
    const behind = await pool.acquire({ scopeId });
    expect(await pool.states(head, behind)).to.deep.equal(['WAITING', 'WAITING']);
    await world.mustPost(`/scopes/${pool.scopeId}/cancel`);
    await world.service.due.drain(world.org);
    expect(await pool.states(head, behind)).to.deep.equal(['CANCELLED', 'HELD']);
    await expectAgreement(world);
  });

  it('are cancelled from the first step on, swept or not', async () => {
    const pool = await TestPool.create(world);
    const child = randomUUID();
    await world.mustPost('/scopes', { scopeId: child, parentScopeId: pool.scopeId });
    // More than a step of the cancel ends; children come first.
    const many = await TestPool.create(world, 600);
    await Promise.all(Array.from({ length: 300 }, () => many.acquire({ scopeId: child })));
    const held = await pool.acquire();
    const waiting = await pool.acquire();
    const next = await pool.acquire({ scopeId: randomUUID() });
    const { body } = await world.post(`/scopes/${pool.scopeId}/cancel`);
    expect(body.done).to.equal(false);
    expect(codeOf(await pool.renew(held))).to.equal('409 CLAIM_LOST');
    expect((await world.post(`/pool-holds/${waiting.id}/cancel`)).body.state).to.equal('CANCELLED');
    expect((await pool.release(held)).body.state).to.equal('RELEASED');
    await pool.passTo(start);
    expect(await pool.states(held, waiting, next)).to.deep.equal(['RELEASED', 'CANCELLED', 'HELD']);
    const again = await world.post(`/scopes/${pool.scopeId}/cancel`);
    expect(again.body).to.deep.include({ done: true });
    expect(again.body.cancelled.holds).to.equal(302);
    await expectAgreement(world);
  });

  it('are kept for 24 hours after they finished, their events longer', async () => {
    world = await World.create({ plan: 'free' });
    await world.at(start);
    const pool = await TestPool.create(world);
    const held = await pool.acquire({ leaseSeconds: 600 });
    await pool.release(held);
    const kept = await pool.acquire({ leaseSeconds: 600 });
    await world.at(start + day - 1);
    await world.service.retention.retain(world.org);
    expect((await pool.hold(held.id)).state).to.equal('RELEASED');
    await pool.passTo(start + day);
    await world.service.retention.retain(world.org);
    expect(codeOf(await world.get(`/pool-holds/${held.id}`))).to.equal('404 HOLD_NOT_FOUND');
    expect((await pool.hold(kept.id)).state).to.equal('LAPSED');
    const types = (await world.eventTypes()).filter((type) => type.startsWith('hold.'));
    expect(types).to.deep.equal(['hold.held', 'hold.released', 'hold.held', 'hold.lapsed']);
    await expectAgreement(world);
    await pool.passTo(start + 40 * day);
    await world.service.retention.retain(world.org);
    await world.service.retention.retain(world.org);
    expect((await world.get('/scopes')).body.scopes, 'its run is gone').to.deep.equal([]);
    await expectAgreement(world);
  });

  it('are among what waits and what is held in the space', async () => {
    const pool = await TestPool.create(world, 2);
    const held = await pool.acquire({ holderSession: 's' });
    await world.at(start + 1000);
    const [two, one] = [await pool.acquire({ units: 2, holder: 'b' }), await pool.acquire({ holder: 'c' })];
    const { waitingHolds, heldHolds } = (await world.get('/ops/waits')).body;
    const { poolId, scopeId } = await pool.hold(held.id);
    const at = (ms: number) => new Date(start + ms).toISOString();
    expect(heldHolds).to.deep.equal([
      {
        holdId: held.id,
        ...{ poolId, scopeId, holder: 'agent', holderSession: 's', units: 1, fence: held.fence },
        ...{ heldAt: at(0), leaseExpiresAt: at(30_000) },
      },
    ]);
    const waits = { waitingSince: at(1000), expiresAt: at(301_000) };
    expect(waitingHolds).to.deep.equal([
      {
        ...{ holdId: two.id, poolId, scopeId, holder: 'b', holderSession: null, units: 2 },
        ...{ position: 1, ...waits, blockedBy: 'UNITS' },
      },
      {
        ...{ holdId: one.id, poolId, scopeId, holder: 'c', holderSession: null, units: 1 },
        ...{ position: 2, ...waits, blockedBy: 'HEAD_OF_LINE' },
      },
    ]);
    expect((await world.get('/backlog')).body.waitingHolds).to.equal(2);
  });
});

describe('a hold under a plan', () => {
  it('counts its units among the agents at once, and waits until the plan has room again', async () => {
    const world = await World.create({ plan: 'enterprise', figures: { agents: '3' } });
    const start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    const pool = await TestPool.create(world, 5);
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: pool.scopeId, payload: 1 });
    await world.mustPost(`/mailboxes/${mailboxId}/messages`, { scopeId: pool.scopeId, payload: 2 });
    const recv = () =>
      world.post(`/mailboxes/${mailboxId}/recv`, { scopeId: '*', holder: 'w', holderSession: 's', leaseSeconds: 60 });
    expect(codeOf(await pool.ask({ units: 4 }))).to.equal('409 ENTITLEMENT_EXCEEDED');
    const { body: claim } = await recv();
    const two = await pool.acquire({ units: 2 });
    expect(codeOf(await recv())).to.equal('429 CONCURRENCY_LIMITED');
    expect(codeOf(await pool.ask({ ttlSeconds: 0 }))).to.equal('429 CONCURRENCY_LIMITED');
    const waiting = await pool.acquire();
    expect([two.state, waiting.state]).to.deep.equal(['HELD', 'WAITING']);
    expect((await world.get('/ops/waits')).body.waitingHolds[0].blockedBy).to.equal('AGENTS');
    await pool.passTo(start + 500);
    expect(await pool.states(waiting)).to.deep.equal(['WAITING']);
    await world.mustPost(`/messages/${claim.id}/complete`, { token: claim.token });
    expect(await pool.states(waiting), 'nobody tells it').to.deep.equal(['WAITING']);
    // However late the worker is, the lease begins at the grant.
    await pool.passTo(start + 5000);
    const heldAt = new Date(start + 5000).toISOString();
    expect(await pool.hold(waiting.id)).to.include({ state: 'HELD', heldAt });
    await expectAgreement(world);
    expect(codeOf(await recv())).to.equal('429 CONCURRENCY_LIMITED');
    await pool.release(two);
    expect(codeOf(await recv())).to.equal('200');
  });

  it('a plan without operations left still renews, releases and cancels holds', async () => {
    const world = await World.create({ plan: 'free' });
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    const waiting = await pool.acquire();
    await world.service.store.hset(`muster:{${world.org}}`, 'usedOperations', '100000000');
    expect(codeOf(await pool.ask())).to.equal('402 OPERATIONS_EXHAUSTED');
    expect(codeOf(await world.post('/pools', { name: 'x', units: 1 }))).to.equal('402 OPERATIONS_EXHAUSTED');
    expect(codeOf(await world.call('PATCH', `/pools/${pool.id}`, { units: 2 }))).to.equal('402 OPERATIONS_EXHAUSTED');
    expect(codeOf(await pool.renew(held))).to.equal('200');
    expect(codeOf(await world.post(`/pool-holds/${waiting.id}/cancel`))).to.equal('200');
    expect(codeOf(await pool.release(held))).to.equal('200');
    expect(codeOf(await world.call('DELETE', `/pools/${pool.id}`))).to.equal('402 OPERATIONS_EXHAUSTED');
  });
});
