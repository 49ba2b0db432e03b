import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, type ServiceOptions, startService } from '../../src/service.ts';
import { emptyStore } from '../redis/empty-store.ts';
import { bytesOf } from '../support/bytes.ts';
import { journalOf } from '../support/journal.ts';
import type { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';
import { codeOf, World } from '../support/world.ts';

/** On the real clock and a separate store. */
describe('Packing of the journal', () => {
  let store: OwnStore;
  let service: MusterService;
  let world: World;
  const start = (redisUrl: string, options: Partial<ServiceOptions> = {}): Promise<MusterService> =>
    startService({ redisUrl, role: 'api', host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }), ...options });

  /** Events as they might have been for so many hours. */
  async function fill(count: number, hours: number): Promise<void> {
    const pipeline = world.service.store.pipeline();
    const begun = Date.now() - hours * 3_600_000;
    for (let n = 0; n < count; n++) {
      const at = `${begun + Math.floor((n / count) * hours * 3_600_000)}-${n}`;
      const text = `${randomUUID()} ${randomUUID()} ${randomUUID()} mailboxId=${randomUUID()} state=READY`;
      pipeline.xadd(`${world.prefix}:events`, at, 'message.sent', text);
    }
    await pipeline.exec();
  }

  before(async () => {
    store = await emptyStore();
    service = await start(store.url);
    // Calls of later would load them.
    await service.scripts.load();
  });
  after(async () => {
    await service.stop();
  });
  beforeEach(async () => {
    world = await World.create({ on: service });
  });
  const live = () => service.store.xlen(`${world.prefix}:events`);
  const memory = async () => Number(/used_memory:(\d+)/.exec(await service.store.info('memory'))?.[1]);
  const journalBytes = () => bytesOf(service.store, `${world.prefix}:event*`);

  it('works in a store that is nearly full, or full, and makes room in it', async () => {
    for (const share of [0.95, 1.05]) {
      await fill(20_000, 50);
      const before = await journalOf(world);
      const bytes = await journalBytes();
      await service.store.config('SET', 'maxmemory', String(Math.floor((await memory()) / share)));
      try {
        const full = await world.post('/mailboxes', { name: 'x' });
        expect(codeOf(full)).to.equal(share > 1 ? '503 STORE_UNAVAILABLE' : '201');
        const inMs = await service.packing.packSpace(world.org, world.spaceId, undefined, { sealAfterMs: 3_600_000 });
        expect(inMs).to.be.greaterThan(0);
        expect(await live()).to.be.below(1_000);
        expect(await journalBytes()).to.be.below(bytes - 500_000);
        expect(codeOf(await world.post('/mailboxes', { name: 'y' }))).to.equal('201');
      } finally {
        await service.store.config('SET', 'maxmemory', '0');
      }
      expect((await journalOf(world)).slice(0, before.length)).to.deep.equal(before);
      world = await World.create({ on: service });
    }
  });

  it('is done by workers by themselves, once every half minute, and at once where they start', async () => {
    await fill(3_000, 5);
    const worker = await start(store.url, { role: 'worker', sealAfterSeconds: 3600 });
    await until(async () => (await live()) <= 1_000);
    await worker.stop();
    expect(await service.store.xlen(`${world.prefix}:eventSegments`)).to.equal(2);
    expect(await journalOf(world)).to.have.length(3_000);
    const never = await start(store.url, { role: 'worker', sealAfterSeconds: 0 });
    expect(never.packing.isOn).to.equal(false);
    await never.stop();
  });
});
