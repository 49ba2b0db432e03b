import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { connect } from '../../src/redis/connection.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { listSnapshots, snapshotFolder } from '../../src/snapshot/folder.ts';
import { Periodic } from '../../src/workers/periodic.ts';
import { OwnStore } from '../support/own-store.ts';
import { Pace } from '../support/pace.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

/** On the real clock, on a store of its own. */
describe('The queue of the workers may be lost at any time', () => {
  let store: OwnStore;
  let service: MusterService;
  let folder: string;
  const schedule = (job: string): Promise<string | null> => service.store.zscore(`{muster}:queue:${job}:repeat`, job);
  const loseQueue = async (but = ''): Promise<void> => {
    const keys = await service.store.keys('{muster}:queue:*');
    await service.store.del(...keys.filter((key) => key !== but));
  };

  before(async () => {
    store = await OwnStore.start();
    folder = snapshotFolder(store.dataDir);
    const log = pino({ level: 'silent' });
    const snapshots = { folder, keep: 1, intervalSeconds: 1, embedded: true };
    service = await startService({ redisUrl: store.url, role: 'all', host: '127.0.0.1', port: 0, log, snapshots });
  });
  after(async () => {
    await service.stop();
    await store.stop();
  });

  const sweepsInTime = async (): Promise<void> => {
    const world = await World.create({ on: service });
    const { id: mailboxId } = await world.made('/mailboxes', { name: 'jobs' });
    const pace = await Pace.begin();
    const deadline = Date.now() + 1_000;
    const body = { scopeId: randomUUID(), payload: 1, deadline: new Date(deadline).toISOString() };
    const { id } = await world.made(`/mailboxes/${mailboxId}/messages`, body);
    const record = `${world.prefix}:message:${id}`;
    await until(async () => (await service.store.hget(record, 'state')) === 'EXPIRED');
    const late = Date.now() - deadline;
    expect(late).to.be.at.least(0);
    await pace.expect(late, 1000);
  };

  it('sweeps go on without it, and it is scheduled anew', async () => {
    expect(await schedule('sweep')).to.not.equal(null);
    await loseQueue();
    await sweepsInTime();
    await until(async () => (await schedule('sweep')) !== null);
  });

  it('nor do they wait, when a clock was set forward and back, for what was scheduled meanwhile', async () => {
    const now = Date.now;
    const soon = now() + 600_000;
    Date.now = () => now() + 3_600_000;
    try {
      await until(async () => Number(await schedule('sweep')) > soon);
    } finally {
      Date.now = now;
    }
    await sweepsInTime();
    await until(async () => Number(await schedule('sweep')) < soon);
  });

  it('snapshots go on too, where their schedule alone is left', async () => {
    await loseQueue('{muster}:queue:snapshot:repeat');
    const lost = new Date().toISOString();
    await until(async () => (await listSnapshots(folder)).some(({ createdAt }) => createdAt > lost));
    await until(async () => Number(await schedule('snapshot')) > Date.now());
  });

  it('a queue that hangs does not keep a process from starting', async () => {
    const { store: redis } = await store.admin();
    const connection = await connect(store.url, 'patient');
    await redis.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const jobs = { sweep: { everyMs: 60_000, run: async () => undefined } };
    const periodic = await Periodic.start(redis, connection, 'sweep', jobs, pino({ level: 'silent' }));
    await redis.call('CLIENT', 'UNPAUSE');
    await periodic.stop();
    connection.disconnect();
  });
});
