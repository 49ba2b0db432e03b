import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { findEmbedded } from '../../../src/embedded/embedded.ts';
import { isAlive } from '../../../src/embedded/process-identity.ts';
import { readRecord } from '../../../src/embedded/store-folder.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { findSnapshot } from '../../../src/jobs/snapshot/folder.ts';
import { restoreEmbedded } from '../../../src/jobs/snapshot/restore.ts';
import { Stores } from '../../embedded/support.ts';
import { OwnStore } from '../../support/own-store.ts';
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

  /** A redis-server that starts slowly, in this folder. */
  async function slowServer(place: string): Promise<string> {
    const { command } = target.program;
    const path = join(place, 'redis-server');
    await writeFile(path, `#!/bin/sh\n[ "$1" = --version ] || sleep 1\nexec '${command}' "$@"\n`, { mode: 0o700 });
    await symlink(command, join(place, 'redis-check-rdb'));
    return path;
  }

  it('replaces a store that killed processes left running, but not one in use', async () => {
    const file = await findSnapshot(folder, (await make()).snapshot);
    const dataDir = await stores.folder();
    const restore = (): Promise<unknown> => restoreEmbedded(file, { ...target, dataDir }).catch((error) => error);
    const owner = await stores.startInOtherProcess(dataDir);
    expect(await restore()).to.include({ code: 'STORE_RUNNING' });
    await owner.end('SIGKILL');
    expect(await restore()).to.include({ organizations: 1 });
    await (await stores.startInOtherProcess(dataDir)).end('SIGKILL');
    expect(await restore()).to.include({ code: 'STORE_NOT_EMPTY' });
    expect(await findEmbedded(dataDir)).to.equal(null);
  });

  it('leaves no server running when its command gets a signal twice', async () => {
    const { snapshot } = await make();
    const [dataDir, elsewhere] = [await stores.folder(), await stores.folder()];
    const { env } = target.program;
    const REDIS_SERVER = await slowServer(elsewhere);
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

  it('into a server leaves nothing that the next snapshot does not remove; it spares a running one', async () => {
    const { snapshot } = await make();
    const other = await OwnStore.start();
    const settings = {
      ...target.program.env,
      REDIS_URL: other.url,
      DATA_DIR: source.ownStore.dataDir,
      REDIS_SERVER: await slowServer(await stores.folder()),
    };
    const words = ['dist/cli/main.js', 'snapshot', 'restore', snapshot];
    const restoring = spawn(process.execPath, words, { env: settings, stdio: 'ignore' });
    endAtExit(restoring);
    const left = async () => (await readdir(folder)).filter((name) => name.startsWith('restore-'));
    const server = async () => (await readRecord(join(folder, (await left())[0] ?? '')))?.server;
    await until(async () => (await server()) !== undefined);
    const found = (await server()) ?? '';
    await make();
    expect(await left()).to.have.length(1);
    restoring.kill('SIGKILL');
    await once(restoring, 'exit');
    expect(isAlive(found)).to.equal(true);
    await make();
    expect(await left()).to.deep.equal([]);
    expect(isAlive(found)).to.equal(false);
    await other.stop();
  });
});
