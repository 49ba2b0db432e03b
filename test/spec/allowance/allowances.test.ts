import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, World } from '../../support/world.ts';

const scopeId = randomUUID();
const hour = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

describe('allowances', () => {
  let world: World;
  let start: number;
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start + 1234);
  });

  async function make(unitsLimit = 5, windowSeconds = 60): Promise<string> {
    const { id } = await world.mustPost('/allowances', { name: `calls ${randomUUID()}`, unitsLimit, windowSeconds });
    return `/allowances/${id}`;
  }
  const consume = (path: string, units: number, more = {}) =>
    world.post(`${path}/consume`, { scopeId, units, holder: 'agent', ...more });

  it('are created with a window aligned to the Unix epoch', async () => {
    const { status, body } = await world.post('/allowances', { name: 'calls', unitsLimit: 5, windowSeconds: 7 });
    const windowStartedAt = start + 1234 - ((start + 1234) % 7000);
    expect(status).to.equal(201);
    expect(body).to.deep.equal({
      ...{ id: body.id, name: 'calls', unitsLimit: 5, windowSeconds: 7, usedUnits: 0, availableUnits: 5, waiting: 0 },
      ...{ windowStartedAt: iso(windowStartedAt), windowEndsAt: iso(windowStartedAt + 7000) },
      ...{ cooldownUntil: null, cooldownReason: null, createdAt: iso(start + 1234) },
    });
    expect((await world.get(`/allowances/${body.id}`)).body).to.deep.equal(body);
    expect(await world.eventTypes()).to.deep.equal(['allowance.created']);
  });

  it('leave an audit entry that names the key, the allowance and its figures', async () => {
    const { id } = await world.mustPost('/allowances', { name: 'a "b"', unitsLimit: 5, windowSeconds: 60 });
    const [entry] = await world.service.store.xrevrange(`muster:{${world.org}}:audit`, '+', '-', 'COUNT', 1);
    const [, action, , actor, , target, , detail] = entry?.[1] ?? [];
    expect([action, target]).to.deep.equal(['allowance.created', id]);
    expect(actor).to.match(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(detail ?? '')).to.deep.equal({ name: 'a "b"', unitsLimit: 5, windowSeconds: 60 });
  });

  it('have names that are unique in the space', async () => {
    const body = { name: 'calls', unitsLimit: 1, windowSeconds: 1 };
    await world.mustPost('/allowances', body);
    expect(codeOf(await world.post('/allowances', body))).to.equal('409 ALLOWANCE_EXISTS');
    await (await world.anotherSpace()).mustPost('/allowances', body);
  });

  it('are listed with current-window balances, newest first', async () => {
    const paths = [await make(), await make(), await make()];
    await consume(paths[1] ?? '', 2);
    const first = await world.get('/allowances?limit=2');
    const second = await world.get(`/allowances?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body.nextCursor).to.equal(null);
    const all = [...first.body.allowances, ...second.body.allowances];
    expect(all.map(({ id }) => `/allowances/${id}`)).to.have.members(paths);
    expect(all.map(({ id }) => id)).to.deep.equal(
      all
        .map(({ id }) => id)
        .sort()
        .reverse(),
    );
    const used = all.filter(({ usedUnits }) => usedUnits === 2);
    expect(used).to.deep.equal([(await world.get(paths[1] ?? '')).body]);
  });

  it('record consumptions, up to unitsLimit in each window', async () => {
    const path = await make(5);
    const first = await consume(path, 3);
    expect(first.status).to.equal(201);
    expect(first.body).to.include({
      scopeId,
      holder: 'agent',
      units: 3,
      workKey: null,
      replay: false,
      availableUnits: 2,
    });
    expect(first.body).to.include({ windowEndsAt: iso(start + 60_000), createdAt: iso(start + 1234) });
    const refused = await consume(path, 3);
    expect(codeOf(refused)).to.equal('429 ALLOWANCE_EXHAUSTED');
    expect(refused.headers.get('Retry-After')).to.equal('59');
    expect(codeOf(await consume(path, 6)), 'more than could ever be available').to.equal('400 UNITS_EXCEED_LIMIT');
    await world.at(start + 60_000);
    expect((await world.get(path)).body).to.include({ usedUnits: 0, availableUnits: 5 });
    expect((await consume(path, 5)).body).to.include({ availableUnits: 0 });
    // Setting the clock back never makes units available twice.
    await world.at(start + 59_999);
    expect(codeOf(await consume(path, 1))).to.equal('429 ALLOWANCE_EXHAUSTED');
    const types = ['allowance.created', 'scope.created', 'allowance.consumed', 'allowance.consumed'];
    expect(await world.eventTypes()).to.deep.equal(types);
  });

  it('deduplicate by workKey: the first consumption again, 201 with replay true', async () => {
    const path = await make(5);
    const first = await consume(path, 3, { workKey: 'w' });
    await world.at(start + 60_000);
    const again = await consume(path, 3, { workKey: 'w', scopeId: randomUUID() });
    expect([again.status, again.body]).to.deep.equal([201, { ...first.body, replay: true }]);
    expect(codeOf(await consume(path, 2, { workKey: 'w' }))).to.equal('409 WORK_KEY_CONFLICT');
    expect(codeOf(await consume(path, 3, { workKey: 'w', holder: 'other' }))).to.equal('409 WORK_KEY_CONFLICT');
    expect((await world.get(path)).body).to.include({ usedUnits: 0 });
    expect((await consume(await make(5), 2, { workKey: 'w' })).body.replay).to.equal(false);
  });

  it('cannot be consumed during a cooldown, which a later one never shortens', async () => {
    const path = await make(1);
    await consume(path, 1);
    const first = await world.post(`${path}/cooldown`, { seconds: 90, reason: 'provider says 429' });
    const cooldownUntil = iso(start + 91_234);
    expect(first.body).to.deep.include({ cooldownUntil, reason: 'provider says 429' });
    for (const seconds of [30, 90]) {
      const again = await world.post(`${path}/cooldown`, { seconds, reason: 'other' });
      expect([again.status, again.body]).to.deep.equal([200, first.body]);
    }
    const refused = await consume(path, 1);
    expect(codeOf(refused)).to.equal('429 ALLOWANCE_COOLING_DOWN');
    expect(refused.headers.get('Retry-After')).to.equal('90');
    expect((await world.get(path)).body).to.include({ cooldownUntil, cooldownReason: 'provider says 429' });
    await world.at(start + 91_234);
    expect((await world.get(path)).body).to.include({ cooldownUntil: null, cooldownReason: null });
    expect((await consume(path, 1)).status).to.equal(201);
    expect((await world.eventTypes()).filter((type) => type === 'allowance.cooldown_started').length).to.equal(1);
    expect(await world.service.store.hget(`muster:{${world.org}}`, 'usedOperations')).to.equal('4');
    expect((await world.post(`${path}/cooldown`, { seconds: 1, reason: '' })).body.reason).to.equal(null);
  });
});
