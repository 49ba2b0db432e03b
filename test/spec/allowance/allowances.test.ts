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
    const { id } = await world.made('/allowances', { name: `calls ${randomUUID()}`, unitsLimit, windowSeconds });
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
    const { id } = await world.made('/allowances', { name: 'a "b"', unitsLimit: 5, windowSeconds: 60 });
    const [entry] = await world.service.store.xrevrange(`muster:{${world.org}}:audit`, '+', '-', 'COUNT', 1);
    const [, action, , actor, , target, , detail] = entry?.[1] ?? [];
    expect([action, target]).to.deep.equal(['allowance.created', id]);
    expect(actor).to.match(/^[0-9a-f-]{36}$/);
    expect(JSON.parse(detail ?? '')).to.deep.equal({ name: 'a "b"', unitsLimit: 5, windowSeconds: 60 });
  });

  it('have names that are unique in the space', async () => {
    const body = { name: 'calls', unitsLimit: 1, windowSeconds: 1 };
    await world.made('/allowances', body);
    expect(codeOf(await world.post('/allowances', body))).to.equal('409 ALLOWANCE_EXISTS');
    await (await world.beside()).made('/allowances', body);
  });

  it('accept whole units from 1 to 10^9 and windows from 1 to 31,536,000 seconds', async () => {
    const good = { name: 'calls', unitsLimit: 1_000_000_000, windowSeconds: 31_536_000 };
    const { body } = await world.post('/allowances', good);
    expect(Date.parse(body.windowStartedAt) % 31_536_000_000).to.equal(0);
    for (const bad of [{ unitsLimit: 0 }, { unitsLimit: 1_000_000_001 }, { unitsLimit: '5' }, { windowSeconds: 0 }])
      expect(codeOf(await world.post('/allowances', { ...good, name: 'x', ...bad }))).to.equal('400 VALIDATION_FAILED');
    const long = { ...good, name: 'x', windowSeconds: 31_536_001 };
    expect(codeOf(await world.post('/allowances', long))).to.equal('400 VALIDATION_FAILED');
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
    await world.at(start + 60_000);
    expect((await world.get(path)).body).to.include({ usedUnits: 0, availableUnits: 5 });
    expect((await consume(path, 5)).body).to.include({ availableUnits: 0 });
    // Setting the clock back never makes units available twice.
    await world.at(start + 59_999);
    expect(codeOf(await consume(path, 1))).to.equal('429 ALLOWANCE_EXHAUSTED');
    const types = ['allowance.created', 'scope.created', 'allowance.consumed', 'allowance.consumed'];
    expect(await world.eventTypes()).to.deep.equal(types);
  });

  it('refuse to consume more units than could ever be available', async () => {
    expect(codeOf(await consume(await make(5), 6))).to.equal('400 UNITS_EXCEED_LIMIT');
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

  it('replay the first answer to a repeated Idempotency-Key', async () => {
    const path = await make(5);
    const body = { scopeId, units: 3, holder: 'agent' };
    const headers = { 'Idempotency-Key': 'k' };
    const first = await world.post(`${path}/consume`, body, headers);
    const again = await world.post(`${path}/consume`, body, headers);
    expect([again.status, again.body]).to.deep.equal([201, { ...first.body, replay: true }]);
    expect(again.headers.get('Idempotent-Replayed')).to.equal('true');
    expect((await world.get(path)).body).to.include({ usedUnits: 3 });
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
  });

  it('accept cooldowns from 1 to 3600 seconds, with an optional reason of at most 512 characters', async () => {
    const path = await make();
    expect((await world.post(`${path}/cooldown`, { seconds: 1, reason: '' })).body.reason).to.equal(null);
    expect((await world.post(`${path}/cooldown`, { seconds: 3600, reason: 'x'.repeat(512) })).status).to.equal(200);
    for (const body of [{ seconds: 0 }, { seconds: 3601 }, {}, { seconds: 1, reason: 'x'.repeat(513) }])
      expect(codeOf(await world.post(`${path}/cooldown`, body))).to.equal('400 VALIDATION_FAILED');
  });

  it('answer 404 for an unknown id', async () => {
    const path = `/allowances/${randomUUID()}`;
    const code = '404 ALLOWANCE_NOT_FOUND';
    expect(codeOf(await world.get(path))).to.equal(code);
    expect(codeOf(await consume(path, 1))).to.equal(code);
    expect(codeOf(await world.post(`${path}/wait`, { scopeId, units: 1, holder: 'h' }))).to.equal(code);
    expect(codeOf(await world.post(`${path}/cooldown`, { seconds: 1 }))).to.equal(code);
  });

  it('need resource_config to create, consume, wait and cool down', async () => {
    const path = await make();
    const apiKey = await world.key(['coordination_read', 'coordination_write']);
    const headers = { Authorization: `Bearer ${apiKey}` };
    const calls: [string, object][] = [
      ['/allowances', { name: 'n', unitsLimit: 1, windowSeconds: 1 }],
      [`${path}/consume`, { scopeId, units: 1, holder: 'h' }],
      [`${path}/wait`, { scopeId, units: 1, holder: 'h' }],
      [`${path}/cooldown`, { seconds: 1 }],
    ];
    for (const [url, body] of calls)
      expect(codeOf(await world.post(url, body, headers))).to.equal('403 PERMISSION_DENIED');
  });

  it('count consumptions and units per scope', async () => {
    const path = await make(5);
    await consume(path, 3);
    await consume(path, 2);
    const counted = await world.service.store.hmget(
      `${world.prefix}:scope:${scopeId}`,
      ...['consumptions', 'consumedUnits', 'live'],
    );
    expect(counted).to.deep.equal(['2', '5', '0']);
  });
});
