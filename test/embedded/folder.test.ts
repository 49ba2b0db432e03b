import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, rm, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { findEmbedded, startEmbedded } from '../../src/embedded/embedded.ts';
import { connect } from '../../src/embedded/redis-process.ts';
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

  it('is closed to other users with all files of the store, whatever was there before', async () => {
    const folder = join(await stores.folder(), 'data');
    await mkdir(folder);
    await writeFile(join(folder, 'README'), 'of the operator');
    const before = process.umask(0o022);
    try {
      await (await stores.start(folder)).stop();
      const logs = join(folder, 'appendonlydir');
      for (const path of [folder, logs]) await chmod(path, 0o755);
      for (const name of await readdir(logs)) await chmod(join(logs, name), 0o644);
      const store = await stores.start(folder);
      const link = (await connect(store.socketPath)) as Redis;
      await link.set('key', 'value');
      await link.bgrewriteaof();
      await until(async () => /aof_rewrite_in_progress:0.*aof_rewrites:[1-9]/s.test(await link.info('persistence')));
      await link.save();
      link.disconnect();
    } finally {
      process.umask(before);
    }
    const modes: string[] = [];
    const look = async (path: string): Promise<void> => {
      for (const entry of await readdir(path, { withFileTypes: true })) {
        const below = join(path, entry.name);
        const mode = ((await stat(below)).mode & 0o777).toString(8);
        if (entry.name === 'dump.rdb' || entry.name.endsWith('.aof')) kinds.add(entry.name.replace(/^.*\./, ''));
        if (entry.name !== 'README' && !(entry.isFile() ? mode === '600' : mode === '700'))
          modes.push(`${entry.name} ${mode}`);
        if (entry.isDirectory()) await look(below);
      }
    };
    const kinds = new Set<string>();
    await look(folder);
    expect([...kinds].sort()).to.deep.equal(['aof', 'rdb']);
    expect(modes).to.deep.equal([]);
    expect((await stat(folder)).mode & 0o777).to.equal(0o700);
    expect((await stat(join(folder, 'README'))).mode & 0o777).to.equal(0o644);
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
