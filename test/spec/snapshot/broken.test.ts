import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { withFolderLock } from '../../../src/embedded/folder-lock.ts';
import { whenReady } from '../../../src/embedded/ready.ts';
import { endProcess, spawnRedis } from '../../../src/embedded/redis-process.ts';
import { connect, type Store } from '../../../src/engine/redis/connection.ts';
import { Scripts, StoreUnavailable } from '../../../src/engine/redis/scripts.ts';
import { createSnapshot } from '../../../src/jobs/snapshot/create.ts';
import { findSnapshot } from '../../../src/jobs/snapshot/folder.ts';
import { restoreEmbedded, restoreInto } from '../../../src/jobs/snapshot/restore.ts';
import { luaNames } from '../../../src/primitives/primitives.ts';
import { Stores } from '../../embedded/support.ts';
import { breakingProxy } from '../../support/breaking-proxy.ts';
import { Processes } from '../../support/processes.ts';
import { Source } from './source.ts';

describe('A snapshot or restore that is interrupted', () => {
  const processes = new Processes();
  const stores = new Stores();
  let source: Source;
  let folder: string;
  let target: Source['target'];
  const make = () => source.make();

  before(async () => {
    source = await Source.start();
    ({ folder, target } = source);
  });
  afterEach(async () => {
    await stores.clear();
    await processes.clear();
  });
  after(() => source.ownStore.stop());

  it('fails with an error if the connection breaks at any step, and leaves no partial files', async () => {
    const at = join(source.ownStore.dataDir, 'breaks');
    let passes = 0;
    const { server } = await breakingProxy(source.ownStore.url, at, () => passes-- > 0);
    const broken = async (left: number, work: (link: Store) => Promise<unknown>): Promise<unknown> => {
      passes = Number.POSITIVE_INFINITY;
      const link = await connect(at);
      passes = left;
      return work(link)
        .catch((error) => error)
        .finally(() => link.disconnect());
    };
    const create = (link: Store) => createSnapshot(link, { folder, keep: 9, embedded: true });
    let steps = 0;
    for (; steps < 100; steps++) {
      const answer = await broken(steps, create);
      if (!(answer instanceof Error)) break;
      expect(answer, `step ${steps}`).to.be.instanceOf(StoreUnavailable).with.property('message', 'no connection');
    }
    expect(steps).to.be.greaterThan(5);
    expect((await readdir(folder)).filter((name) => !/\.(rdb|json)$/.test(name))).to.deep.equal([]);

    const file = await findSnapshot(folder, (await make()).snapshot);
    const restore = (link: Store) =>
      restoreInto({ store: link, scripts: new Scripts(link, luaNames) }, file, {
        ...target,
        dataDir: source.ownStore.dataDir,
      });
    for (const left of [0, 1]) expect(await broken(left, restore)).to.be.instanceOf(StoreUnavailable);
    server.close();
  });

  it('reports that the data was restored when the server to be started on it fails', async () => {
    const file = await findSnapshot(folder, (await make()).snapshot);
    const [dataDir, elsewhere] = [await processes.folder(), await processes.folder()];
    const command = join(elsewhere, 'redis-server');
    await writeFile(command, '#!/bin/sh\nexit 1\n', { mode: 0o700 });
    await symlink(target.program.command, join(elsewhere, 'redis-check-rdb'));
    const failing = { ...target, dataDir, program: { ...target.program, command } };
    const failure = await restoreEmbedded(file, failing).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'SNAPSHOT_FAILED' });
    expect(failure)
      .to.have.property('message')
      .that.matches(/^the data was restored, but .* exited immediately: .*: start Muster on it/);
    const store = await startEmbedded({ dataDir, log: () => undefined });
    expect(store).to.include({ wasEmpty: false, wasClean: false });
    await store.stop();
  });

  it('removes no files of a store that was started after the restore checked for one', async () => {
    const file = await findSnapshot(folder, (await make()).snapshot);
    const dataDir = await stores.folder();
    const socketPath = join(dataDir, 'redis.sock');
    const restored = await withFolderLock(dataDir, 0, async () => {
      const restoring = restoreEmbedded(file, { ...target, dataDir }).catch((error) => error);
      // By then it has checked, and waits for the folder's lock.
      await sleep(1_000);
      const { program, log } = target;
      const { server, listen } = await spawnRedis({ program, dataDir, socketPath, settings: {} });
      listen();
      (await whenReady(server, { socketPath, dataDir, log }, 5_000)).disconnect();
      return { restoring, server };
    });
    expect(await restored.restoring).to.include({ code: 'STORE_RUNNING' });
    expect(await readdir(dataDir)).to.include('appendonlydir');
    await endProcess(restored.server, 5_000);
  });
});
