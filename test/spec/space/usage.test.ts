import { expect } from 'chai';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

const day = 86_400_000;
const midnight = (Math.ceil(Date.now() / day) + 1) * day;
const date = (days: number): string => new Date(midnight + days * day).toISOString().slice(0, 10);

async function begin(): Promise<{ world: World; traffic: Traffic }> {
  const world = await World.create();
  await world.at(midnight);
  return { world, traffic: await Traffic.on(world) };
}

describe('usage', () => {
  it('covers the last 30 days by default; from or to may be given alone', async () => {
    const { world } = await begin();
    const range = async (query: string) => {
      const { from, to, days } = (await world.get(`/usage${query}`)).body;
      return [from, to, days.length];
    };
    expect(await range('')).to.deep.equal([date(-29), date(0), 30]);
    expect(await range(`?from=${date(-3)}`)).to.deep.equal([date(-3), date(0), 4]);
    expect(await range(`?to=${date(-5)}`)).to.deep.equal([date(-34), date(-5), 30]);
    expect(await range(`?from=${date(-399)}&to=${date(0)}`)).to.deep.equal([date(-399), date(0), 400]);
    expect(await range(`?from=${date(0)}&to=${date(0)}`)).to.deep.equal([date(0), date(0), 1]);
  });

  it('refuses invalid dates, reversed ranges and more than 400 days with INVALID_DATE_RANGE', async () => {
    const { world } = await begin();
    const bad = ['from=2026-02-30', 'to=yesterday', 'from=', 'from=2026-1-1', 'from=2026-01-01T00:00:00Z'];
    const ranges = [`from=${date(1)}`, `from=${date(0)}&to=${date(-1)}`, `from=${date(-400)}`];
    for (const query of [...bad, ...ranges]) {
      const { status, body } = await world.get(`/usage?${query}`);
      expect([query, status, body.error.code]).to.deep.equal([query, 400, 'INVALID_DATE_RANGE']);
    }
    const unknown = await world.get('/usage?since=2026-01-01');
    expect(unknown.body.error.code).to.equal('VALIDATION_FAILED');
  });

  it('counts operations by call and, only as syscalls, renewals, replays and 204s', async () => {
    const { world, traffic } = await begin();
    const scopeId = traffic.scope();
    const today = async () => (await world.get(`/usage?from=${date(0)}`)).body.days[0];
    const before = await today();
    expect(before.byCall).to.deep.equal({ 'allowance.create': 1, 'budget.create': 1, 'mailbox.create': 2 });
    await traffic.send(scopeId, { workKey: 'w' });
    // A natural replay, an idempotent one, an empty poll, a renewal.
    await traffic.send(scopeId, { workKey: 'w' });
    const claim = await traffic.claim(scopeId);
    await traffic.claim(scopeId);
    await world.mustPost(`/messages/${claim.id}/renew`, { token: claim.token });
    const key = { 'Idempotency-Key': 'k' };
    for (let i = 0; i < 2; i++) await world.mustPost('/barriers', { scopeId, target: 2 }, key);
    const [[barrier], [budget], [allowance]] = await Promise.all(
      ['barriers', 'budgets', 'allowances'].map(async (what) => (await world.get(`/${what}`)).body[what]),
    );
    const money = { holder: 'h', amountMinor: '5' };
    const { id: reservationId } = await world.mustPost(`/budgets/${budget.id}/reserve`, { ...money, scopeId });
    const arrival: [string, object] = [`/barriers/${barrier.id}/arrive`, { arrivalKey: 'a' }];
    const repeated: [string, object][] = [
      ...[arrival, arrival],
      [`/barriers/${barrier.id}/arrive`, { arrivalKey: 'the last' }],
      [`/budgets/${budget.id}/settle`, { reservationId, amountMinor: '5', workKey: 'w' }],
      [`/allowances/${allowance.id}/consume`, { scopeId, units: 1, holder: 'h', workKey: 'w' }],
    ];
    for (const [path, body] of [...repeated, ...repeated]) await world.mustPost(path, body);
    // Refused calls, reads and calls without effect count as neither.
    await world.post('/barriers', { scopeId, target: 0 });
    await world.post(`/messages/${claim.id}/complete`, { token: 'another' });
    await world.get('/census');
    await world.call('PUT', '/limits', {});
    const after = await today();
    expect(after.byCall).to.deep.equal({
      ...{ ...before.byCall, 'message.send': 1, 'message.recv': 1, 'barrier.create': 1, 'barrier.arrive': 2 },
      ...{ 'budget.reserve': 1, 'budget.settle': 1, 'allowance.consume': 1 },
    });
    expect([after.operations, after.syscalls]).to.deep.equal([12, 22]);
  });

  it('stores each day with the first call of a later one; quiet days are zeros and keep retainedBytes', async () => {
    const { world, traffic } = await begin();
    await traffic.send(traffic.scope(), { payload: '12345678' });
    await traffic.claim(traffic.scope());
    await world.at(midnight + day - 1);
    await traffic.send(traffic.scope(), { payload: '1' });
    await world.at(midnight + 4 * day);
    await traffic.send(traffic.scope(), { payload: '' });
    await world.at(midnight + 6 * day);
    const { days } = (await world.get(`/usage?from=${date(-1)}`)).body;
    const rows = days.map((row: Record<string, unknown>) =>
      ['date', 'operations', 'syscalls', 'retainedBytes'].map((name) => row[name]),
    );
    // A receive that finds nothing is only a syscall.
    expect(rows).to.deep.equal([
      [date(-1), 0, 0, 0],
      [date(0), 6, 7, 13],
      [date(1), 0, 0, 13],
      [date(2), 0, 0, 13],
      [date(3), 0, 0, 13],
      [date(4), 1, 1, 15],
      [date(5), 0, 0, 15],
      [date(6), 0, 0, 15],
    ]);
    expect(days[5].byCall).to.deep.equal({ 'message.send': 1 });
    for (const [from, to, retained] of [
      [2, 3, [13, 13]],
      [-1, 0, [0, 13]],
    ] as const) {
      const part = (await world.get(`/usage?from=${date(from)}&to=${date(to)}`)).body.days;
      expect(part.map((row: Record<string, unknown>) => row['retainedBytes'])).to.deep.equal(retained);
    }
    expect((await world.get(`/usage?from=${date(6)}`)).body.days).to.deep.include.members([days[7]]);
  });

  it("keeps a day's counts when the clock is set back over midnight", async () => {
    const { world } = await begin();
    const create = (at: number) => world.at(at).then(() => world.mustPost('/mailboxes', { name: 'm' }));
    const before = (await world.get(`/usage?from=${date(0)}`)).body.days[0].byCall['mailbox.create'];
    await create(midnight + day - 1);
    await create(midnight + day);
    await create(midnight + day - 1);
    await create(midnight + day + 1);
    const { days } = (await world.get(`/usage?from=${date(0)}`)).body;
    const counted = days.map((one: { byCall: Record<string, number> }) => one.byCall['mailbox.create']);
    expect(counted).to.deep.equal([before + 1, 3]);
  });

  it('counts each call in its own day when hundreds of calls are made at midnight', async () => {
    const { world, traffic } = await begin();
    await world.at(midnight + day - 1);
    const scopeId = traffic.scope();
    const many = () => Promise.all(Array.from({ length: 100 }, () => traffic.send(scopeId)));
    await many();
    await Promise.all([many(), world.at(midnight + day), many()]);
    const { days } = (await world.get(`/usage?from=${date(0)}&to=${date(1)}`)).body;
    const sends = days.map((row: { byCall: Record<string, number> }) => row.byCall['message.send'] ?? 0);
    expect(sends[0] + sends[1]).to.equal(300);
    expect(sends[0]).to.be.at.least(100);
  });
});
