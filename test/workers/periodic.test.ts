import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import type { Store } from '../../src/engine/redis/connection.ts';
import { connect } from '../../src/engine/redis/connection.ts';
import { Due } from '../../src/engine/redis/due.ts';
import { Wake } from '../../src/engine/redis/wake.ts';
import { listSnapshots, snapshotFolder } from '../../src/jobs/snapshot/folder.ts';
import { type Job, Periodic } from '../../src/jobs/workers/periodic.ts';
import { Sweeper } from '../../src/jobs/workers/sweeper.ts';
import { type MusterService, startService } from '../../src/service.ts';
import { emptyStore } from '../redis/empty-store.ts';
import type { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

const log = pino({ level: 'silent' });

/** On the real clock and a separate store. */
describe("The loss of workers' state in the store", () => {
  let store: OwnStore;
  let service: MusterService;
  let folder: string;
  const loseQueue = async (): Promise<void> => {
    const keys = await service.store.keys('{muster}:queue:*');
    expect(keys).to.not.be.empty;
    await service.store.del(...keys);
  };

  before(async () => {
    store = await emptyStore();
    folder = snapshotFolder(store.dataDir);
    const snapshots = { folder, keep: 1, intervalSeconds: 1, embedded: true };
    service = await startService({ redisUrl: store.url, role: 'all', host: '127.0.0.1', port: 0, log, snapshots });
  });
  after(() => service.stop());

  const sweeps = async (): Promise<void> => {
    const world = await World.create({ on: service });
    const { id: mailboxId } = await world.mustPost('/mailboxes', { name: 'jobs' });
    const deadline = Date.now() + 3_000;
    const body = { scopeId: randomUUID(), payload: 1, deadline: new Date(deadline).toISOString() };
    const { id } = await world.mustPost(`/mailboxes/${mailboxId}/messages`, body);
    const record = `${world.prefix}:message:${id}`;
    await until(async () => (await service.store.hget(record, 'state')) === 'EXPIRED');
    expect(Date.now(), 'not before').to.be.at.least(deadline);
  };

  it('does not stop sweeps if the queue is lost', async () => {
    await sweeps();
    await loseQueue();
    await sweeps();
  });

  it('does not stop sweeps if the queue accepts jobs that no worker takes', async () => {
    const { store: redis } = await store.admin();
    const queue = '{muster}:queue:sweep';
    await redis.del(`${queue}:active`);
    // The store now refuses its workers every job.
    await redis.set(`${queue}:active`, 'not a list');
    await sweeps();
    await redis.del(`${queue}:active`);
    await sweeps();
  });

  it('does not stop snapshots if the next due time is lost, malformed, or of a clock that was set back', async () => {
    const key = 'muster:round:snapshot';
    for (const lose of [
      () => service.store.del(key),
      () => service.store.set(key, String(Date.now() + 3_600_000)),
      () => service.store.set(key, 'soon'),
    ]) {
      await lose();
      const lost = new Date().toISOString();
      await until(async () => (await listSnapshots(folder)).some(({ createdAt }) => createdAt > lost));
      // A snapshot that was under way when it was lost is no sign yet of the next one.
      await until(async () => Math.abs(Number(await service.store.get(key)) - Date.now()) <= 1_000);
    }
  });
});

describe('A periodic job', () => {
  let ownStore: OwnStore;
  let store: Store;
  const started: { stop(): Promise<void> }[] = [];
  const start = (name: string, job: Job): Periodic => {
    const periodic = new Periodic(store, name, job, log);
    started.push(periodic);
    return periodic;
  };

  before(async () => {
    ownStore = await emptyStore();
    ({ store } = await ownStore.admin());
  });
  afterEach(async () => {
    for (const one of started.splice(0)) await one.stop();
  });

  it('runs at once and then at its interval, each time in one process', async () => {
    let runs = 0;
    const begun = performance.now();
    const run = async () => void runs++;
    for (let n = 0; n < 5; n++) start('often', { everyMs: 200, run });
    await until(() => runs > 3);
    expect(performance.now() - begun, 'an interval lies between two of them').to.be.at.least(590);
  });

  it('does not run in a process that starts before it is due, and runs at once in one that starts later', async () => {
    let runs = 0;
    const begun = Date.now();
    const job: Job = { everyMs: 60_000, firstAfterMs: 60_000, run: async () => void runs++ };
    await start('seldom', job).stop();
    const next = await store.get('muster:round:seldom');
    expect(Number(next)).to.be.within(begun + 59_990, Date.now() + 60_000);
    await start('seldom', job).stop();
    expect([runs, await store.get('muster:round:seldom')]).to.deep.equal([0, next]);
    await store.set('muster:round:seldom', Date.now() - 1);
    start('seldom', job);
    await until(() => runs === 1);
  });

  it('runs for the first time when the job says, and then at its interval', async () => {
    let runs = 0;
    const begun = Date.now();
    start('soon', { everyMs: 60_000, firstAfterMs: 100, run: async () => void runs++ });
    await until(() => runs === 1);
    expect(Number(await store.get('muster:round:soon'))).to.be.within(begun + 60_000, Date.now() + 60_000);
  });

  it('runs in every process while the store does not answer, and continues after a failure', async () => {
    let runs = 0;
    const run = async () => {
      runs++;
      throw new Error('in vain');
    };
    const { store: other } = await ownStore.admin();
    await other.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    start('failing', { everyMs: 100, run });
    await until(() => runs > 1);
    expect(await other.get('muster:round:failing')).to.equal(null);
    await other.call('CLIENT', 'UNPAUSE');
    await until(async () => (await other.get('muster:round:failing')) !== null);
    const before = runs;
    await until(() => runs > before);
  });

  it('lets a sweeper start and stop even if the queue hangs', async () => {
    const connections = [await connect(ownStore.url, 'patient'), await connect(ownStore.url, 'patient')] as const;
    await store.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const wake = new Wake(connections[1], store);
    const { scripts } = await ownStore.admin();
    const sweeper = new Sweeper(connections[0], { store, due: new Due(store, scripts), wake, log });
    await store.call('CLIENT', 'UNPAUSE');
    await sweeper.stop();
    for (const connection of connections) connection.disconnect();
  });
});
