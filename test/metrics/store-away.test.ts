import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { MusterService } from '../../src/service.ts';
import { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';
import type { Scrape } from './exposition.ts';
import { Metered, scrape } from './metered.ts';

/** A scraper's usual timeout. */

describe('GET /metrics when the store has problems', () => {
  let metered: Metered;
  let service: MusterService;
  before(async () => {
    metered = await Metered.start(await OwnStore.start());
    service = await metered.service({ role: 'api' });
  });
  after(async () => {
    await metered.stop();
    await metered.store.stop();
  });

  const showsNoStore = (now: Scrape): void => {
    expect(now.value('muster_store_up')).to.equal(0);
    const read = now.samples.filter(({ name }) => /^muster_(store|sweep|messages|waiters|timers|o|spaces)/.test(name));
    expect(read.map(({ name }) => name)).to.deep.equal(['muster_store_up']);
    expect(now.value('process_resident_memory_bytes')).to.be.greaterThan(1e7);
  };

  it('shows a sweeper lag of 0 if nothing is due yet, otherwise the age of the earliest due timer', async () => {
    const lag = async () => (await scrape(service)).value('muster_sweep_lag_seconds');
    expect(await lag()).to.equal(0);
    await service.store.zadd('muster:due', Date.now() + 60_000, 'later');
    expect(await lag()).to.equal(0);
    await service.store.zadd('muster:due', Date.now() - 60_000, 'late');
    expect(await lag()).to.be.within(60, 90);
  });

  it('shows a server that forbids INFO as up, with the figures of its scripts', async () => {
    await service.store.call('ACL', 'SETUSER', 'default', '-info');
    const now = await scrape(service);
    expect(now.samples.filter(({ name }) => name.startsWith('muster_store_')).map(({ value }) => value)).to.deep.equal([
      1,
    ]);
    expect(now.value('muster_spaces_read')).to.equal(0);
    await service.store.call('ACL', 'SETUSER', 'default', '+info');
  });

  it('shows a hung store as down, without making the scraper wait', async () => {
    expect((await scrape(service)).value('muster_store_up')).to.equal(1);
    await service.store.call('CLIENT', 'PAUSE', '4000', 'ALL');
    // One that waited for the store would show it as up.
    showsNoStore(await scrape(service));
    await service.store.ping();
    expect((await scrape(service)).value('muster_store_up')).to.equal(1);
  });

  it('shows a full store as down, with its memory ratio', async () => {
    await service.store.config('SET', 'maxmemory', '1');
    const now = await scrape(service);
    expect(now.value('muster_store_up')).to.equal(0);
    expect(now.value('muster_store_memory_ratio')).to.be.greaterThan(1);
    await service.store.config('SET', 'maxmemory', '0');
  });

  it('reports a store without an append-only file, and one that could not write its dump file', async () => {
    const persistence = async () => {
      const now = await scrape(service);
      return [now.value('muster_store_append_only'), now.value('muster_store_persisting')];
    };
    await service.store.config('SET', 'appendonly', 'no');
    expect(await persistence()).to.deep.equal([0, 1]);
    await mkdir(join(metered.store.dataDir, 'dump.rdb'));
    await service.store.bgsave();
    await until(async () => (await persistence())[1] !== 1);
    expect(await persistence()).to.deep.equal([0, 0]);
  });

  it('shows a stopped store as down, and leaves out what could not be read rather than report 0', async () => {
    await metered.store.stop();
    showsNoStore(await scrape(service));
    const answered = { method: 'GET', route: '/metrics', status: '200' };
    expect((await scrape(service)).value('muster_http_requests_total', answered)).to.be.greaterThan(1);
  });
});
