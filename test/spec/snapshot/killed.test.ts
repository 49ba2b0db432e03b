import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { findEmbedded } from '../../../src/embedded/embedded.ts';
import { isAlive } from '../../../src/embedded/process-identity.ts';
import { readRecord } from '../../../src/embedded/store-folder.ts';
import { endAtExit } from '../../../src/program/at-exit.ts';
import { findSnapshot } from '../../../src/snapshot/folder.ts';
import { restoreEmbedded } from '../../../src/snapshot/restore.ts';
import { Stores } from '../../embedded/support.ts';
import { Processes, until } from '../../support/processes.ts';
import { Source } from './source.ts';

describe('A restore among killed processes', () => {
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

  it('replaces a store that killed processes left running, but not one in use', async () => {
    const file = await findSnapshot(folder, (await make()).snapshot);
    const dataDir = await stores.folder();
    const restore = (): Promise<unknown> => restoreEmbedded(file, { ...target, dataDir }).catch((error) => error);
    const owner = await stores.startInOtherProcess(dataDir);
    const guest = await stores.startInOtherProcess(dataDir);
    await owner.end('SIGKILL');
    expect(await restore()).to.include({ code: 'STORE_RUNNING' });
    await guest.end('SIGKILL');
    expect(await restore()).to.include({ organizations: 1 });
    await (await stores.startInOtherProcess(dataDir)).end('SIGKILL');
    expect(await restore()).to.include({ code: 'STORE_NOT_EMPTY' });
    expect(await findEmbedded(dataDir)).to.equal(null);
  });

  it('leaves no server running when its command gets a signal twice', async () => {
    const { snapshot } = await make();
    const [dataDir, elsewhere] = [await stores.folder(), await stores.folder()];
    const { command, env } = target.program;
    const REDIS_SERVER = join(elsewhere, 'redis-server');
    await writeFile(REDIS_SERVER, `#!/bin/sh\n[ "$1" = --version ] || sleep 1\nexec '${command}' "$@"\n`, {
      mode: 0o700,
    });
    await symlink(command, join(elsewhere, 'redis-check-rdb'));
    const words = ['dist/cli/main.js', 'snapshot', 'restore', join(folder, `${snapshot}.rdb`)];
    const settings = { ...env, REDIS_URL: '', DATA_DIR: dataDir, REDIS_SERVER };
    const restoring = spawn(process.execPath, words, { env: settings, stdio: ['ignore', 'ignore', 'pipe'] });
    endAtExit(restoring);
    const ended = Promise.all([text(restoring.stderr), once(restoring, 'close')]);
    await until(async () => (await readRecord(dataDir)) !== null);
    const { server = '' } = (await readRecord(dataDir)) ?? {};
    for (const name of ['SIGINT', 'SIGINT'] as const) restoring.kill(name);
    const [output, [status]] = await ended;
    expect(JSON.parse(output).error).to.include({ code: 'SNAPSHOT_FAILED' });
    expect(status).to.equal(1);
    expect(isAlive(server)).to.equal(false);
  });
});
