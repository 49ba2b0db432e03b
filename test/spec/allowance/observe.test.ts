import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { codeOf, type Reply, World } from '../../support/world.ts';

const hour = 3_600_000;
const iso = (at: number): string => new Date(at).toISOString();

describe('what a provider says is left', () => {
  let world: World;
  let start: number;
  let path: string;
  const scopeId = randomUUID();
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    path = `/allowances/${(await world.mustPost('/allowances', { name: 'r', unitsLimit: 100, windowSeconds: 60 })).id}`;
    await world.mustPost(`${path}/consume`, { scopeId, units: 30, holder: 'a' });
  });

  const observe = (remainingUnits: unknown, resetAt?: string | null): Promise<Reply> =>
    world.post(`${path}/observe`, { remainingUnits, resetAt });
  const emitted = async (): Promise<string[]> => (await world.eventTypes()).slice(3);

  it('raises what is used to what the provider says, and never lowers it', async () => {
    const { status, body } = await observe(40);
    expect([status, body.usedUnits, body.availableUnits]).to.deep.equal([200, 60, 40]);
    expect((await observe(40)).body.usedUnits).to.equal(60);
    expect((await observe(90)).body.usedUnits).to.equal(60);
    expect((await observe(1_000_000_000)).body.usedUnits).to.equal(60);
    expect(await emitted()).to.deep.equal(['allowance.observed']);
    const { events } = (await world.get('/events?limit=100')).body;
    expect(events.at(-1).payload).to.deep.equal({ allowanceId: path.slice(12), usedUnits: 60, availableUnits: 40 });
    expect((await world.get('/usage')).body.days.at(-1).byCall['allowance.observe']).to.equal(1);
    await world.at(start + 60_000);
    expect((await observe(99)).body).to.include({ usedUnits: 1, availableUnits: 99 });
  });

  it('cools down until the reset where nothing is left, an hour at most; a cooldown is never shortened', async () => {
    const { body } = await observe(0, iso(start + 20_500));
    expect(body).to.include({ usedUnits: 100, cooldownUntil: iso(start + 20_500), cooldownReason: 'OBSERVED' });
    expect(await emitted()).to.deep.equal(['allowance.observed', 'allowance.cooldown_started']);
    const { events } = (await world.get('/events?limit=100')).body;
    expect(events.at(-1).payload.seconds).to.equal(21);
    await observe(0, iso(start + 10_000));
    expect((await emitted()).length).to.equal(2);
    expect((await observe(0, iso(start + 2 * hour))).body.cooldownUntil).to.equal(iso(start + hour));
    expect((await emitted()).length).to.equal(4);
    await world.at(start + 60_000);
    expect(codeOf(await world.post(`${path}/consume`, { scopeId, units: 1, holder: 'a' }))).to.equal(
      '429 ALLOWANCE_COOLING_DOWN',
    );
  });

  it('does not cool down where something is left, or the reset is over or unknown', async () => {
    for (const [remaining, resetAt] of [
      [1, iso(start + 20_000)],
      [0, iso(start)],
      [0, null],
    ] as const)
      expect((await observe(remaining, resetAt)).body.cooldownUntil).to.equal(null);
    expect(await emitted()).to.deep.equal(['allowance.observed', 'allowance.observed']);
  });

  it('takes whole numbers from 0 and a date-time', async () => {
    for (const remaining of [-1, 1.5, '1', null, 1_000_000_001])
      expect(codeOf(await observe(remaining))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await observe(0, 'soon'))).to.equal('400 VALIDATION_FAILED');
    expect(codeOf(await world.post(`/allowances/${randomUUID()}/observe`, { remainingUnits: 1 }))).to.equal(
      '404 ALLOWANCE_NOT_FOUND',
    );
  });
});
