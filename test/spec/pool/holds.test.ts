import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { heldRead } from '../../support/held-reads.ts';
import { codeOf, World } from '../../support/world.ts';
import { callArgs } from '../allowance/script.ts';
import { type Acquired, TestPool } from './holds.ts';

const hour = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

describe('a hold', () => {
  let world: World;
  let start: number;
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
  });

  it('is HELD at once while units are free, with a lease, a fence and a token that only acquire shows', async () => {
    const pool = await TestPool.create(world, 3);
    const held = await pool.acquire({ units: 2, holderSession: 's-1', leaseSeconds: 60 });
    const { token, ...record } = held;
    expect(record).to.deep.equal({
      id: held.id,
      holdId: held.id,
      poolId: pool.id,
      scopeId: pool.scopeId,
      holder: 'agent',
      holderSession: 's-1',
      units: 2,
      state: 'HELD',
      fence: held.fence,
      position: null,
      leaseSeconds: 60,
      leaseExpiresAt: iso(start + 60_000),
      expiresAt: null,
      heldAt: iso(start),
      finishedAt: null,
      createdAt: iso(start),
    });
    expect(held.fence).to.be.within(start * 1000, (start + 1) * 1000);
    expect(token).to.match(/^[0-9a-f]{32}$/);
    expect(await pool.hold(held.id)).to.deep.equal(record);
    expect(await pool.view()).to.include({ units: 3, heldUnits: 2, availableUnits: 1, waiting: 0 });
    const { body: list } = await world.get('/pool-holds');
    expect(list.holds).to.deep.equal([record]);
  });

  it('waits in line, strictly first in, first out, and is granted in the step that frees its units', async () => {
    const pool = await TestPool.create(world, 2);
    const both = await pool.acquire({ units: 2 });
    const two = await pool.acquire({ units: 2, ttlSeconds: 600 });
    const one = await pool.acquire({ units: 1 });
    expect([two.state, two.position, two.fence, two.heldAt, two.leaseExpiresAt]).to.deep.equal([
      ...['WAITING', 1, null, null, null],
    ]);
    expect(two.expiresAt).to.equal(iso(start + 600_000));
    expect([one.state, one.position]).to.deep.equal(['WAITING', 2]);
    expect((await pool.release(both)).body.state).to.equal('RELEASED');
    expect(await pool.states(two, one)).to.deep.equal(['HELD', 'WAITING']);
    expect((await pool.hold(one.id)).position).to.equal(1);
    await pool.release(two);
    expect(await pool.states(one)).to.deep.equal(['HELD']);
    const fences = await Promise.all([both, two, one].map(async ({ id }) => (await pool.hold(id)).fence));
    expect(fences).to.deep.equal([...new Set(fences)].sort((a, b) => a - b));
  });

  it('is granted while a read waits for it', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    const next = await pool.acquire();
    const read = await heldRead(world, `/pool-holds/${next.id}`);
    await pool.release(held);
    expect((await read.answer).body).to.include({ state: 'HELD', position: null });
  });

  it('begins its lease at the grant, and lapses when it ends: its units go to the next', async () => {
    const pool = await TestPool.create(world);
    const first = await pool.acquire({ leaseSeconds: 20 });
    const second = await pool.acquire({ leaseSeconds: 30 });
    await pool.passTo(start + 20_000);
    expect(await pool.hold(first.id)).to.include({
      state: 'LAPSED',
      leaseExpiresAt: null,
      finishedAt: iso(start + 20_000),
    });
    expect(await pool.hold(second.id)).to.include({ state: 'HELD', leaseExpiresAt: iso(start + 50_000) });
    expect(codeOf(await pool.renew(first))).to.equal('409 CLAIM_LOST');
    expect(codeOf(await pool.release(first))).to.equal('409 CLAIM_LOST');
  });

  it('is renewed from now on, by its own lease or another; a lease that has ended is over, swept or not', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire({ leaseSeconds: 30 });
    await world.at(start + 20_000);
    const renewed = (await pool.renew(held)).body;
    expect(renewed).to.include({ id: held.id, state: 'HELD', leaseExpiresAt: iso(start + 50_000) });
    expect(renewed, 'without its token').to.deep.equal(await pool.hold(held.id));
    expect((await pool.renew(held, 10)).body.leaseExpiresAt).to.equal(iso(start + 30_000));
    expect((await pool.renew(held)).body.leaseExpiresAt).to.equal(iso(start + 50_000));
    await world.at(start + 50_000);
    const late = await pool.renew(held);
    expect(codeOf(late)).to.equal('409 CLAIM_LOST');
    expect(late.body.error.message).to.contain(`the lease of the hold ended at ${iso(start + 50_000)}`);
  });

  it('a waiting hold is renewed without a token, by its own time or another, and keeps its place', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire({ leaseSeconds: 60 });
    const [first, second] = [await pool.acquire({ ttlSeconds: 20 }), await pool.acquire({ ttlSeconds: 20 })];
    const operations = () => world.service.store.hget(`muster:{${world.org}}`, 'usedOperations');
    const before = await operations();
    await world.at(start + 15_000);
    const { status, body } = await pool.waitOn(first);
    expect([status, body.state, body.expiresAt]).to.deep.equal([200, 'WAITING', iso(start + 35_000)]);
    expect(body).to.include({ position: 1, leaseExpiresAt: null }).and.not.to.have.property('token');
    expect(body).to.deep.equal(await pool.hold(first.id));
    await world.at(start + 16_000);
    expect((await pool.waitOn(second, 86_400)).body.expiresAt).to.equal(iso(start + 86_416_000));
    const shorter = await pool.waitOn(second);
    expect(shorter.body, 'its own, not the last one').to.include({ expiresAt: iso(start + 36_000), position: 2 });
    await pool.passTo(start + 34_999);
    expect(await pool.states(first, second)).to.deep.equal(['WAITING', 'WAITING']);
    await pool.passTo(start + 35_000);
    expect(await pool.states(first, second)).to.deep.equal(['EXPIRED', 'WAITING']);
    expect((await pool.waitOn(second, 30)).body).to.include({ expiresAt: iso(start + 65_000), position: 1 });
    await pool.passTo(start + 60_000);
    expect(await pool.states(held, first, second)).to.deep.equal(['LAPSED', 'EXPIRED', 'HELD']);
    expect(await operations(), 'a renewal is not an operation').to.equal(before);
    expect((await world.eventTypes()).filter((type) => type.startsWith('hold.'))).to.deep.equal([
      ...['hold.held', 'hold.queued', 'hold.queued', 'hold.expired', 'hold.lapsed', 'hold.held'],
    ]);
    await expectAgreement(world);
  });

  it('is renewed without a token only while it waits, swept or not', async () => {
    const pool = await TestPool.create(world);
    const refused = async (hold: Acquired, state: string) => {
      const reply = await pool.waitOn(hold);
      expect(codeOf(reply)).to.equal('409 HOLD_NOT_WAITING');
      expect(reply.body.error.message).to.contain(`the hold is ${state}`);
    };
    const held = await pool.acquire({ leaseSeconds: 60 });
    await refused(held, 'HELD');
    const cancelled = await pool.acquire();
    await world.post(`/pool-holds/${cancelled.id}/cancel`);
    await refused(cancelled, 'CANCELLED');
    const stopped = await pool.acquire({ scopeId: randomUUID() });
    await world.mustPost(`/scopes/${stopped.scopeId}/cancel`);
    await refused(stopped, 'CANCELLED');
    const waiting = await pool.acquire({ ttlSeconds: 10 });
    await world.at(start + 10_000);
    const args = { holdId: waiting.id, token: '', leaseSeconds: '', ttlSeconds: '', sweptThrough: start + 9_999 };
    const late = await world.service.scripts
      .execute('pool/renewHold', world.org, { ...callArgs(world), ...args })
      .catch(String);
    expect(late, 'the sweep was a moment before').to.equal('Error: HOLD_NOT_WAITING EXPIRED');
    await refused(waiting, 'EXPIRED');
    await pool.release(held);
    await refused(held, 'RELEASED');
    expect(codeOf(await world.post(`/pool-holds/${randomUUID()}/renew`, {}))).to.equal('404 HOLD_NOT_FOUND');
  });

  it('is renewed with its token and a lease, or without a token and with a time to wait, not with a mixture', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    const waiting = await pool.acquire();
    const renew = async ({ id }: Acquired, body: object) => {
      const reply = await world.post(`/pool-holds/${id}/renew`, body);
      return `${codeOf(reply)}: ${reply.body.error?.message}`;
    };
    expect(await renew(held, { token: held.token, ttlSeconds: 30 })).to.match(
      /^400 VALIDATION_FAILED: ttlSeconds must be left out with a token/,
    );
    expect(await renew(waiting, { leaseSeconds: 30 })).to.match(
      /^400 VALIDATION_FAILED: leaseSeconds must be left out without a token/,
    );
    for (const ttlSeconds of [4, 86_401, 5.5, '5', 0])
      expect(await renew(waiting, { ttlSeconds }), `${ttlSeconds}`).to.match(/^400 VALIDATION_FAILED: ttlSeconds /);
    expect(codeOf(await pool.renew(waiting)), 'the token of a waiting one').to.equal('409 CLAIM_LOST');
  });

  it('is released once: the same token again is 200, another token or none of it is CLAIM_LOST', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    const waiting = await pool.acquire();
    expect(codeOf(await pool.release({ ...held, token: waiting.token }))).to.equal('409 CLAIM_LOST');
    expect(codeOf(await pool.release(waiting)), 'WAITING').to.equal('409 CLAIM_LOST');
    const { status, body } = await pool.release(held);
    expect([status, body.state]).to.deep.equal([200, 'RELEASED']);
    expect((await pool.release(held)).body).to.deep.equal(body);
    expect(codeOf(await pool.renew(held))).to.equal('409 CLAIM_LOST');
    expect(await pool.states(waiting)).to.deep.equal(['HELD']);
  });

  it('CLAIM_LOST says whether it still waits, how it ended, and that a token was never issued for it', async () => {
    const pool = await TestPool.create(world);
    const lost = async (hold: Acquired): Promise<string> => {
      const replies = [await pool.renew(hold), await pool.release(hold)].filter(({ status }) => status !== 200);
      expect(new Set(replies.map(codeOf))).to.deep.equal(new Set(['409 CLAIM_LOST']));
      return replies.map(({ body }) => body.error.message)[0];
    };
    const [held, waiting] = [await pool.acquire({ leaseSeconds: 60 }), await pool.acquire({ leaseSeconds: 60 })];
    expect(await lost({ ...held, token: waiting.token })).to.equal(
      'this token was never issued for this hold: send the token that acquire answered with it',
    );
    expect(await lost(waiting)).to.equal(
      'the hold is still WAITING, and its token holds nothing yet: wait until it is HELD, or cancel it',
    );
    await world.at(start + 1000);
    await pool.release(held);
    const over = 'and its units are others’: stop, and acquire again';
    expect(await lost(held)).to.equal(`the hold was released at ${iso(start + 1000)}, ${over}`);
    const [cancelled, expired] = [await pool.acquire(), await pool.acquire({ ttlSeconds: 60 })];
    await world.mustPost(`/pool-holds/${cancelled.id}/cancel`);
    await world.at(start + 61_000);
    expect(await lost(waiting)).to.equal(`the lease of the hold ended at ${iso(start + 61_000)}, ${over}`);
    expect(await lost(cancelled)).to.equal(
      `the hold was cancelled at ${iso(start + 1000)}, before it was granted: acquire again`,
    );
    expect((await pool.hold(expired.id)).state).to.equal('EXPIRED');
    expect(await lost(expired)).to.equal(
      `the hold was not granted within its ttlSeconds, which ended at ${iso(start + 61_000)}: acquire again`,
    );
  });

  it('is released without its token by a key with resource_config alone', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    const path = `/pool-holds/${held.id}/release`;
    const as = async (permission: string, body: object) =>
      world.post(path, body, { Authorization: `Bearer ${await world.key([permission])}` });
    expect(codeOf(await as('coordination_write', { force: true }))).to.equal('403 PERMISSION_DENIED');
    expect(codeOf(await as('resource_config', { token: held.token }))).to.equal('403 PERMISSION_DENIED');
    expect(codeOf(await as('resource_config', { token: held.token, force: true }))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await as('coordination_write', {}))).to.equal('400 VALIDATION_FAILED');
    expect((await as('resource_config', { force: true })).body.state).to.equal('RELEASED');
    expect((await as('resource_config', { force: true })).status, 'again').to.equal(200);
    expect(codeOf(await pool.renew(held))).to.equal('409 CLAIM_LOST');
    const { body } = await world.get('/watch?types=hold.released');
    expect(body.events.map(({ payload }: { payload: object }) => payload)).to.deep.equal([
      {
        holdId: held.id,
        scopeId: pool.scopeId,
        poolId: pool.id,
        units: 1,
        state: 'RELEASED',
        fence: held.fence,
        forced: true,
      },
    ]);
  });

  it('leaves the queue by cancel, again with 200; a HELD one does not', async () => {
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    const [head, next] = [await pool.acquire(), await pool.acquire()];
    const cancel = ({ id }: Acquired) => world.post(`/pool-holds/${id}/cancel`);
    expect(codeOf(await cancel(held))).to.equal('409 HOLD_NOT_WAITING');
    expect((await cancel(head)).body).to.include({ state: 'CANCELLED', position: null, expiresAt: null });
    expect((await cancel(head)).status).to.equal(200);
    expect((await pool.hold(next.id)).position).to.equal(1);
    await pool.release(held);
    expect(await pool.states(next)).to.deep.equal(['HELD']);
  });

  it('a hold that wants fewer moves up when the one before it leaves', async () => {
    const pool = await TestPool.create(world, 2);
    await pool.acquire();
    const [two, one] = [await pool.acquire({ units: 2, ttlSeconds: 10 }), await pool.acquire()];
    await world.mustPost(`/pool-holds/${(await pool.acquire({ units: 2 })).id}/cancel`);
    await pool.passTo(start + 10_000);
    expect(await pool.states(two, one)).to.deep.equal(['EXPIRED', 'HELD']);
    expect((await pool.hold(two.id)).finishedAt).to.equal(iso(start + 10_000));
  });

  it('does not wait with ttlSeconds 0', async () => {
    const pool = await TestPool.create(world, 2);
    expect((await pool.ask({ ttlSeconds: 0 })).body.state).to.equal('HELD');
    const exhausted = await pool.ask({ ttlSeconds: 0, units: 2 });
    expect(codeOf(exhausted)).to.equal('429 POOL_EXHAUSTED');
    expect(exhausted.headers.get('retry-after')).to.equal('1');
    await pool.acquire({ units: 2 });
    const behind = await pool.ask({ ttlSeconds: 0 });
    expect(codeOf(behind), 'nobody overtakes').to.equal('429 POOL_EXHAUSTED');
    expect(behind.body.error.message).to.match(/others wait/);
  });

  it('never wants more than the pool has, nor a longer lease than the space allows', async () => {
    const pool = await TestPool.create(world, 2);
    expect(codeOf(await pool.ask({ units: 3 }))).to.equal('400 UNITS_EXCEED_LIMIT');
    await world.call('PUT', '/limits', { maxLeaseSeconds: 20 });
    expect(codeOf(await pool.ask({ leaseSeconds: 21 }))).to.equal('400 LEASE_LIMIT_EXCEEDED');
    const held = await pool.acquire();
    expect(held.leaseSeconds).to.equal(20);
    expect(codeOf(await pool.renew(held, 21))).to.equal('400 LEASE_LIMIT_EXCEEDED');
    await world.call('PUT', '/limits', { maxLeaseSeconds: 10 });
    expect((await pool.renew(held)).body.leaseExpiresAt).to.equal(iso(start + 10_000));
    expect(codeOf(await world.post(`/pools/${randomUUID()}/acquire`, pool.body()))).to.equal('404 POOL_NOT_FOUND');
    expect(codeOf(await world.get(`/pool-holds/${randomUUID()}`))).to.equal('404 HOLD_NOT_FOUND');
  });

  it('a repeated acquire with its Idempotency-Key gets the same hold, token included', async () => {
    const pool = await TestPool.create(world);
    const key = { 'Idempotency-Key': 'once' };
    const first = await world.post(`/pools/${pool.id}/acquire`, pool.body(), key);
    const again = await world.post(`/pools/${pool.id}/acquire`, pool.body(), key);
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect((await pool.view()).heldUnits).to.equal(1);
  });

  it('counts in maxPendingWaiters while it waits, together with the waiters of allowances', async () => {
    await world.call('PUT', '/limits', { maxPendingWaiters: 2 });
    const pool = await TestPool.create(world);
    const held = await pool.acquire();
    await pool.acquire();
    const { id } = await world.mustPost('/allowances', { name: 'calls', unitsLimit: 1, windowSeconds: 3600 });
    const wait = () => world.post(`/allowances/${id}/wait`, { scopeId: pool.scopeId, units: 1, holder: 'agent' });
    expect((await wait()).body.state).to.equal('GRANTED');
    expect((await wait()).body.state).to.equal('WAITING');
    expect(codeOf(await pool.ask())).to.equal('409 WAITERS_FULL');
    expect(codeOf(await wait())).to.equal('409 WAITERS_FULL');
    await pool.release(held);
    expect((await pool.ask()).body.state).to.equal('WAITING');
  });
});

describe('a fence', () => {
  it('is greater than any before, whatever the clock does, also for a pool that is made anew under the name', async () => {
    const world = await World.create();
    const start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    const pool = await TestPool.create(world, 1, 'lock');
    const first = await pool.acquire();
    await pool.release(first);
    await world.at(start - 10_000);
    const second = await pool.acquire();
    expect(second.fence).to.equal((first.fence ?? 0) + 1);
    await pool.release(second);
    await world.call('DELETE', `/pools/${pool.id}`);
    const anew = await (await TestPool.create(world, 1, 'lock')).acquire();
    expect(anew.fence).to.equal((second.fence ?? 0) + 1);
    await world.at(start + 10_000);
    const later = await (await TestPool.create(world)).acquire();
    expect(later.fence, 'the clock').to.be.within((start + 10_000) * 1000, (start + 10_001) * 1000);
  });
});
