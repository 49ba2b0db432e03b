import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { setPlan } from '../../src/primitives/org/admin.ts';
import { World } from '../support/world.ts';
import { Metered, scrape } from './metered.ts';

describe('GET /metrics on retained bytes', () => {
  let metered: Metered;
  before(async () => {
    metered = await Metered.start();
  });
  after(() => metered.stop());

  it('has their sum, and the share of its limit that the fullest space keeps, by name only on METRICS_PORT', async () => {
    const service = await metered.service({ role: 'all' });
    const [open, limited] = [await World.create({ on: service }), await World.create({ on: service })];
    const send = async (world: World, bytes: number) => {
      const { id } = await world.mustPost('/mailboxes', { name: randomUUID() });
      await world.mustPost(`/mailboxes/${id}/messages`, { scopeId: randomUUID(), payload: 'x'.repeat(bytes - 2) });
    };
    await send(open, 100);
    await send(limited, 70);
    const before = await scrape(service);
    expect(before.value('muster_retained_bytes')).to.equal(170);
    expect(before.samples.map(({ name }) => name)).to.not.include('muster_retained_bytes_ratio');
    await limited.call('PUT', '/limits', { maxRetainedBytes: 100 });
    expect((await scrape(service)).value('muster_retained_bytes_ratio', {})).to.equal(0.7);
    await setPlan(service, { org: open.org, plan: 'enterprise', figures: { retainedBytes: '125' } });
    expect((await scrape(service)).value('muster_retained_bytes_ratio', {})).to.equal(0.8);
    const named = await metered.service({ role: 'all', metricsPort: 0 });
    const seen = await scrape(named);
    expect(seen.value('muster_retained_bytes_ratio', { org: limited.org })).to.equal(0.7);
    expect(seen.value('muster_retained_bytes_ratio', { org: open.org })).to.equal(0.8);
  });
});
