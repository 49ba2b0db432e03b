import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { heldRead } from '../../support/held-reads.ts';
import { World } from '../../support/world.ts';

const scopeId = randomUUID();
const hour = 3_600_000;

describe('GET /allowance-waiters/{id} with waitSeconds', () => {
  let world: World;
  let start: number;
  let path: string;
  beforeEach(async () => {
    world = await World.create();
    start = Math.ceil(Date.now() / hour) * hour;
    await world.at(start);
    path = `/allowances/${(await world.mustPost('/allowances', { name: 'calls', unitsLimit: 5, windowSeconds: 60 })).id}`;
    await world.mustPost(`${path}/consume`, { scopeId, units: 5, holder: 'first' });
  });
  const queue = async (units = 5, ttlSeconds = 3600): Promise<string> =>
    `/allowance-waiters/${(await world.mustPost(`${path}/wait`, { scopeId, units, holder: 'agent', ttlSeconds })).id}`;
  /** Moves the clock, then does what is due, as a worker would. */
  async function passTo(at: number): Promise<void> {
    await world.at(at);
    await world.service.due.drain(world.org);
  }

  it('holds the request until its waiter is GRANTED; the other waiters stay held', async () => {
    const [first, second] = [await queue(), await queue()];
    const [one, two] = [await heldRead(world, first), await heldRead(world, second)];
    await passTo(start + 60_000);
    const { body } = await one.answer;
    expect(body).to.deep.equal((await world.get(first)).body);
    expect(body).to.include({ state: 'GRANTED', grantedAt: new Date(start + 60_000).toISOString() });
    expect(world.service.wake.reads).to.equal(1);
    await passTo(start + 120_000);
    expect((await two.answer).body.state).to.equal('GRANTED');
  });

  it('also ends when a higher limit grants the waiter, and when it is cancelled or expires', async () => {
    const [granted, cancelled, expired] = [await queue(1), await queue(), await queue(5, 5)];
    const [one, two, three] = [
      await heldRead(world, granted),
      await heldRead(world, cancelled),
      await heldRead(world, expired),
    ];
    await world.call('PATCH', path, { unitsLimit: 6 });
    expect((await one.answer).body.state).to.equal('GRANTED');
    await world.mustPost(`${cancelled}/cancel`);
    expect((await two.answer).body.state).to.equal('CANCELLED');
    expect((await world.get(`${cancelled}?waitSeconds=30`)).body.state, 'at once').to.equal('CANCELLED');
    await passTo(start + 5_000);
    expect((await three.answer).body.state).to.equal('EXPIRED');
  });
});
