import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Metered } from '../metrics/metered.ts';
import { emptyStore } from '../redis/empty-store.ts';
import { failure, record } from '../support/cli.ts';
import { World } from '../support/world.ts';

interface Row {
  readonly org: string | null;
  readonly spaceId: string | null;
  readonly space: string | null;
  readonly mailboxId: string | null;
  readonly mailbox: string | null;
  readonly bytes: number;
  readonly keys: number;
}

describe('muster memory', () => {
  let metered: Metered;
  let world: World;
  let settings: Record<string, string>;
  const ids = new Map<string, string>();
  before(async () => {
    const store = await emptyStore();
    metered = await Metered.start(store);
    world = await World.create({ on: await metered.service({ role: 'api' }), limits: { maxBacklog: 10_000 } });
    settings = { REDIS_URL: store.url };
    for (const [name, count, bytes] of [
      ['large', 600, 2_000],
      ['small', 600, 10],
    ] as const) {
      const { id } = await world.mustPost('/mailboxes', { name, backlogLimit: 10_000 });
      ids.set(name, id);
      const send = { call: 'message.send', mailboxId: id, scopeId: randomUUID(), payload: 'x'.repeat(bytes) };
      for (let n = 0; n < count; n += 100)
        await world.mustPost('/batch', { calls: Array.from({ length: 100 }, () => send) });
    }
  });
  after(() => metered.stop());
  const rowsOf = async (
    ...more: string[]
  ): Promise<{ keys: number; sampledKeys: number; bytes: number; memory: Row[] }> =>
    record(['memory', ...more], settings);
  const of = (rows: readonly Row[], name: string): Row => rows.find(({ mailbox }) => mailbox === name) as Row;

  it('tells what each mailbox, space and organization takes, the largest first, and writes nothing', async () => {
    const { store } = world.service;
    const writes = async () => /^cmdstat_(?:set|hset|del):.*$/gm.exec(await store.info('commandstats'))?.[0];
    const before = await writes();
    const { keys, sampledKeys, bytes, memory } = await rowsOf();
    expect(sampledKeys)
      .to.equal(keys)
      .and.equal(await store.dbsize());
    expect(await writes()).to.equal(before);
    const [first] = memory;
    expect(first).to.include({ org: world.org, spaceId: world.spaceId, mailboxId: ids.get('large'), mailbox: 'large' });
    expect(of(memory, 'large').bytes).to.be.within(600 * 2_000, 600 * 4_000);
    expect(of(memory, 'small').bytes).to.be.within(600 * 50, 600 * 1_000);
    expect(of(memory, 'small').keys).to.be.at.least(600);
    expect(
      memory.some((row) => row.spaceId === world.spaceId && row.mailboxId === null),
      'the journal',
    ).to.equal(true);
    expect(
      memory.some(({ org }) => org === null),
      "the service's own",
    ).to.equal(true);
    expect(bytes).to.equal(memory.reduce((sum, row) => sum + row.bytes, 0));
  });

  it('estimates the same from a sample of the keys', async () => {
    const whole = await rowsOf();
    const { keys, sampledKeys, memory } = await rowsOf('--keys', '400');
    expect(sampledKeys).to.be.within(400, 700).and.be.below(keys);
    const [exact, estimate] = [of(whole.memory, 'large').bytes, of(memory, 'large').bytes];
    expect(estimate / exact).to.be.within(0.6, 1.6);
  });

  it('refuses a number of keys that is none', async () => {
    expect((await failure(['memory', '--keys', 'all'], settings)).message).to.match(/--keys.*whole number/);
  });
});
