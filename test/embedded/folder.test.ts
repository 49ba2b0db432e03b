import { existsSync } from 'node:fs';
import { cp, mkdir, rm, symlink, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { findEmbedded, startEmbedded } from '../../src/embedded/embedded.ts';
import { socketPathFor } from '../../src/embedded/store-folder.ts';
import { until } from '../support/processes.ts';
import { isRunning, pidOfServer, Stores } from './support.ts';

describe('the folder of an embedded Redis', () => {
  const stores = new Stores();
  afterEach(() => stores.clear());

  it('has its socket elsewhere if the path is too long', async () => {
    const base = await stores.folder();
    const name = 'd'.repeat(103 - Buffer.byteLength(join(base, 'd', 'redis.sock')));
    expect(Buffer.from(await socketPathFor(join(base, `d${name}`)))).to.have.lengthOf(103);
    const folder = join(base, `é${name}`);
    const store = await stores.start(folder);
    expect(dirname(store.socketPath)).to.not.equal(folder);
    expect(await findEmbedded(folder)).to.equal(store.socketPath);
    await store.stop();
    expect(existsSync(dirname(store.socketPath))).to.equal(false);
    // Another user who created the folder first could run a fake server there.
    await symlink(base, dirname(store.socketPath));
    const refused = await socketPathFor(folder).catch((error: Error) => error.message);
    await unlink(dirname(store.socketPath));
    expect(refused).to.contain('belongs to another user');
  });

  it('is recognized by another path', async () => {
    const folder = await stores.folder();
    await mkdir(join(folder, 'data'));
    await symlink(join(folder, 'data'), join(folder, 'alias'));
    const store = await stores.start(join(folder, 'data'));
    expect(await findEmbedded(join(folder, 'alias'))).to.equal(store.socketPath);
    expect(await stores.start(join(folder, 'alias')).catch(String)).to.contain('belongs to the running process');
  });

  it('is not outlived by its server if it is deleted', async () => {
    const folder = join(await stores.folder(), 'data');
    const store = await startEmbedded({ dataDir: folder, log: () => undefined });
    const pid = await pidOfServer(store.socketPath);
    await rm(folder, { recursive: true });
    expect(await store.stop().catch((error: Error) => error)).to.be.an('error');
    await until(() => !isRunning(pid));
  });

  it('does not use the server of the folder that it was copied from', async () => {
    const folder = await stores.folder();
    const original = await stores.start(join(folder, 'a'));
    await cp(join(folder, 'a'), join(folder, 'b'), { recursive: true, filter: (path) => !path.endsWith('.sock') });
    const copy = await stores.start(join(folder, 'b'));
    expect(await pidOfServer(copy.socketPath)).not.to.equal(await pidOfServer(original.socketPath));
  });
});
