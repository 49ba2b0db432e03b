import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { listSnapshots, snapshotFolder } from '../../../src/jobs/snapshot/folder.ts';
import { OwnStore } from '../../support/own-store.ts';
import { Processes, until } from '../../support/processes.ts';

describe('Snapshots of a process', () => {
  const processes = new Processes();
  let ownStore: OwnStore | undefined;
  afterEach(async () => {
    await processes.clear();
    await ownStore?.stop();
    ownStore = undefined;
  });

  it('are made of an embedded store at its clean end, unless there is a new one', async () => {
    const DATA_DIR = await processes.folder();
    const made = () => listSnapshots(snapshotFolder(DATA_DIR));
    for (let starts = 0; starts < 2; starts++) {
      const muster = await processes.start({ DATA_DIR }).ready();
      expect(await made()).to.have.length(starts === 0 ? 0 : 1);
      expect(await muster.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    }
    const [{ keys = 0 } = {}, ...more] = await made();
    expect(keys).to.be.greaterThan(0);
    expect(more).to.deep.equal([]);
  });

  it('are not made if SNAPSHOT_INTERVAL_SECONDS is 0, at the end of an embedded store either', async () => {
    const DATA_DIR = await processes.folder();
    const settings = { DATA_DIR, SNAPSHOT_INTERVAL_SECONDS: '0', METRICS_PORT: '0' };
    const muster = await processes.start(settings).ready();
    const [, metrics = ''] = /^metrics on (.*)$/m.exec(muster.stdout) ?? [];
    expect(await (await fetch(metrics)).text()).to.not.match(/^muster_snapshot/m);
    expect(await muster.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    expect(await listSnapshots(snapshotFolder(DATA_DIR))).to.deep.equal([]);
  });

  it('are made by the worker every SNAPSHOT_INTERVAL_SECONDS, and SNAPSHOT_KEEP are kept', async () => {
    ownStore = await OwnStore.start();
    const DATA_DIR = await processes.folder();
    const often = { SNAPSHOT_INTERVAL_SECONDS: '1', SNAPSHOT_KEEP: '1' };
    const worker = await processes.start({ REDIS_URL: ownStore.url, DATA_DIR, ...often, ROLE: 'worker' }).ready();
    const seen = new Set<string>();
    await until(async () => {
      for (const { snapshot } of await listSnapshots(snapshotFolder(DATA_DIR))) seen.add(snapshot);
      return seen.size >= 2;
    });
    expect(await worker.end('SIGTERM')).to.include({ status: 0, stderr: '' });
    expect(await listSnapshots(snapshotFolder(DATA_DIR))).to.have.length(1);
    expect(await readdir(ownStore.dataDir), 'its own dump file is not ours to remove').to.include('dump.rdb');
  });
});
