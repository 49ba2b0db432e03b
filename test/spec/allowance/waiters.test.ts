import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';
import { callArgs } from './script.ts';

const scopeId = randomUUID();
const hour = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

describe('allowance waiters', () => {
  let world: World;
  let start: number;
  let path: string;
  /** A window of 60 s with five units, all used. */
  beforeEach(async () => {
    world = await World.create({ limits: { maxPendingWaiters: 4 } });
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    const { id } = await world.mustPost('/allowances', { name: 'calls', unitsLimit: 5, windowSeconds: 60 });
    path = `/allowances/${id}`;
    await world.mustPost(`${path}/consume`, { scopeId, units: 5, holder: 'first' });
  });

  const wait = (units: number, more = {}) => world.post(`${path}/wait`, { scopeId, units, holder: 'agent', ...more });
  const queue = async (units: number, more = {}): Promise<string> => (await wait(units, more)).body.id;
  const view = async (id: string) => (await world.get(`/allowance-waiters/${id}`)).body;
  const cancel = (id: string) => world.post(`/allowance-waiters/${id}/cancel`);
  const states = (ids: string[]) => Promise.all(ids.map(async (id) => (await view(id)).state));
  /** Moves the clock while no worker runs; then some call makes what is due take effect. */
  async function passTo(at: number): Promise<void> {
    await world.at(at);
    expect(codeOf(await cancel(randomUUID()))).to.equal('404 WAITER_NOT_FOUND');
  }
  const field = (key: string, name: string) => world.service.store.hget(`${world.prefix}${key}`, name);

  it('are GRANTED at once when units are available', async () => {
    await world.at(start + 60_000);
    const { status, body } = await wait(2);
    expect(status).to.equal(201);
    const at = { grantedAt: iso(start + 60_000), createdAt: iso(start + 60_000) };
    expect(body).to.include({ ...at, state: 'GRANTED', position: null, units: 2, scopeId });
    expect(await view(body.id)).to.deep.equal(body);
    expect((await world.get(path)).body).to.include({ usedUnits: 2, waiting: 0 });
    expect((await world.eventTypes()).at(-1)).to.equal('waiter.granted');
  });

  it('are otherwise WAITING with their position, for 300 seconds by default', async () => {
    await queue(1, { ttlSeconds: 5 });
    const { body } = await wait(2);
    const expiresAt = iso(start + 300_000);
    expect(body).to.include({ waiterId: body.id, state: 'WAITING', position: 2, expiresAt, grantedAt: null });
    expect(await view(body.id)).to.deep.equal(body);
    expect((await world.get(path)).body).to.include({ waiting: 2 });
    expect((await world.eventTypes()).slice(-2)).to.deep.equal(['waiter.queued', 'waiter.queued']);
    const counted = await world.service.store.hget(`muster:{${world.org}}:${world.spaceId}`, 'waiters:WAITING');
    expect([counted, await field(`:scope:${scopeId}`, 'live')]).to.deep.equal(['2', '2']);
  });

  it('are granted in order, head of line first, as of the moment the window rolls, however late it is swept', async () => {
    const ids = [await queue(3), await queue(3), await queue(3, { ttlSeconds: 150 }), await queue(1)];
    await passTo(start + 60_000);
    expect(await states(ids)).to.deep.equal(['GRANTED', 'WAITING', 'WAITING', 'WAITING']);
    expect(await view(ids[1] ?? '')).to.include({ position: 1 });
    expect((await world.get(path)).body).to.include({ usedUnits: 3, waiting: 3 });
    await passTo(start + 170_000);
    const views = await Promise.all(ids.map(view));
    expect(views.map(({ state, grantedAt }) => [state, grantedAt])).to.deep.equal([
      ['GRANTED', iso(start + 60_000)],
      ['GRANTED', iso(start + 120_000)],
      ['EXPIRED', null],
      ['GRANTED', iso(start + 150_000)],
    ]);
    const finished = `allowance:waiter:${world.spaceNumber}:${ids[1]}`;
    expect(await world.service.store.zscore(`muster:{${world.org}}:finished`, finished)).to.equal(`${start + 120_000}`);
    expect((await world.get(path)).body).to.include({ usedUnits: 4, waiting: 0 });
  });

  it('cannot be overtaken: consume is refused while anyone waits, units or not', async () => {
    await queue(5);
    await queue(5);
    await world.at(start + 60_000);
    await queue(1);
    await world.at(start + 120_000);
    const refused = await world.post(`${path}/consume`, { scopeId, units: 1, holder: 'late' });
    expect(codeOf(refused)).to.equal('429 ALLOWANCE_EXHAUSTED');
    expect(refused.headers.get('Retry-After')).to.equal('60');
  });

  it('get nothing during a cooldown although units are available, and are served when it ends', async () => {
    const first = await queue(2);
    await world.mustPost(`${path}/cooldown`, { seconds: 90 });
    await passTo(start + 89_999);
    const second = await queue(2);
    expect(await states([first, second])).to.deep.equal(['WAITING', 'WAITING']);
    expect(codeOf(await world.post(`${path}/consume`, { scopeId, units: 1, holder: 'h' }))).to.equal(
      '429 ALLOWANCE_COOLING_DOWN',
    );
    await passTo(start + 90_000);
    for (const id of [first, second])
      expect(await view(id)).to.include({ state: 'GRANTED', grantedAt: iso(start + 90_000) });
    await world.mustPost(`${path}/cooldown`, { seconds: 10 });
    expect((await wait(1)).body, 'who comes meanwhile').to.include({ state: 'WAITING', position: 1 });
  });

  it('expire at their expiresAt, also if the window rolls at that moment; those behind move up at once', async () => {
    const ids = [await queue(5, { ttlSeconds: 60 }), await queue(3)];
    await passTo(start + 60_000);
    ids.push(await queue(3, { ttlSeconds: 20 }), await queue(2));
    expect(await states(ids)).to.deep.equal(['EXPIRED', 'GRANTED', 'WAITING', 'WAITING']);
    await passTo(start + 80_000);
    expect(await states(ids.slice(2))).to.deep.equal(['EXPIRED', 'GRANTED']);
    expect((await view(ids[3] ?? '')).grantedAt).to.equal(iso(start + 80_000));
    expect((await world.eventTypes()).slice(-2)).to.deep.equal(['waiter.expired', 'waiter.granted']);
  });

  it('can be cancelled, repeatedly with 200; those behind a cancelled head move up in the same step', async () => {
    await world.at(start + 60_000);
    await world.mustPost(`${path}/consume`, { scopeId, units: 3, holder: 'h' });
    const ids = [await queue(3), await queue(2)];
    const first = await cancel(ids[0] ?? '');
    expect(first.body).to.include({ state: 'CANCELLED', position: null });
    expect(await states(ids)).to.deep.equal(['CANCELLED', 'GRANTED']);
    const again = await cancel(ids[0] ?? '');
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    // Two consumptions, an allowance, two waits and the first cancel; the waiters that left keep no timer.
    expect(await world.service.store.hget(`muster:{${world.org}}`, 'usedOperations')).to.equal('6');
    expect(await world.service.store.exists(`muster:{${world.org}}:timers`)).to.equal(0);
    expect((await world.eventTypes()).slice(-2)).to.deep.equal(['waiter.cancelled', 'waiter.granted']);
  });

  it('renewed, wait from now on as long as when they were queued, or as long as is asked; their place stays', async () => {
    const renew = (id: string, body?: object) => world.post(`/allowance-waiters/${id}/renew`, body ?? {});
    const ids = [await queue(5, { ttlSeconds: 20 }), await queue(5, { ttlSeconds: 20 })];
    const [first = '', second = ''] = ids;
    await world.at(start + 15_000);
    const { status, body } = await renew(first);
    expect([status, body.expiresAt, body.position]).to.deep.equal([200, iso(start + 35_000), 1]);
    expect(await view(first)).to.deep.equal(body);
    await world.at(start + 16_000);
    expect((await renew(second, { ttlSeconds: 3600 })).body.expiresAt).to.equal(iso(start + 3_616_000));
    const shorter = await renew(second);
    expect(shorter.body, 'its own, not the last one').to.include({ expiresAt: iso(start + 36_000), position: 2 });
    await passTo(start + 34_999);
    expect(await states(ids)).to.deep.equal(['WAITING', 'WAITING']);
    await passTo(start + 35_000);
    expect(await states(ids)).to.deep.equal(['EXPIRED', 'WAITING']);
    await renew(second, { ttlSeconds: 30 });
    await passTo(start + 60_000);
    expect(await states(ids)).to.deep.equal(['EXPIRED', 'GRANTED']);
    // A consumption, an allowance and two waits: a renewal is no operation, and no event.
    expect(await world.service.store.hget(`muster:{${world.org}}`, 'usedOperations')).to.equal('4');
    const types = (await world.eventTypes()).filter((type) => type.startsWith('waiter.'));
    expect(types).to.deep.equal(['waiter.queued', 'waiter.queued', 'waiter.expired', 'waiter.granted']);
    for (const ttlSeconds of [4, 3601, 5.5, '5'])
      expect(codeOf(await renew(second, { ttlSeconds })), `${ttlSeconds}`).to.equal('400 VALIDATION_FAILED');
  });

  it('can be renewed only while they wait, swept or not', async () => {
    const refused = async (id: string, state: string) => {
      const reply = await world.post(`/allowance-waiters/${id}/renew`);
      expect(codeOf(reply)).to.equal('409 WAITER_NOT_WAITING');
      expect(reply.body.error.message).to.contain(`the waiter is ${state}`);
    };
    const cancelled = await queue(5);
    await cancel(cancelled);
    await refused(cancelled, 'CANCELLED');
    const expired = await queue(5, { ttlSeconds: 10 });
    const stopped = (await wait(5, { scopeId: randomUUID() })).body;
    await world.mustPost(`/scopes/${stopped.scopeId}/cancel`);
    await refused(stopped.id, 'CANCELLED');
    const granted = await queue(5);
    await world.at(start + 10_000);
    const args = { waiterId: expired, ttlSeconds: '', sweptThrough: start + 9_999 };
    const late = await world.service.scripts
      .execute('allowance/renewWaiter', world.org, { ...callArgs(world), ...args })
      .catch(String);
    expect(late, 'the sweep was a moment before').to.equal('Error: WAITER_NOT_WAITING EXPIRED');
    await refused(expired, 'EXPIRED');
    await world.at(start + 60_000);
    await refused(granted, 'GRANTED');
    expect(codeOf(await world.post(`/allowance-waiters/${randomUUID()}/renew`))).to.equal('404 WAITER_NOT_FOUND');
  });

  it('are limited to maxPendingWaiters in the space, which is checked only when a wait would queue', async () => {
    const ids = [await queue(2), await queue(2), await queue(1), await queue(1)];
    expect(codeOf(await wait(1))).to.equal('409 WAITERS_FULL');
    const { id } = await world.mustPost('/allowances', { name: 'other', unitsLimit: 1, windowSeconds: 60 });
    const other = { scopeId, units: 1, holder: 'h' };
    expect((await world.mustPost(`/allowances/${id}/wait`, other)).state).to.equal('GRANTED');
    expect(codeOf(await world.post(`/allowances/${id}/wait`, other))).to.equal('409 WAITERS_FULL');
    await cancel(ids[3] ?? '');
    expect((await wait(1)).body).to.include({ state: 'WAITING', position: 4 });
  });
});
