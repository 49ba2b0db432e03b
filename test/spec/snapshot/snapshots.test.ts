import {
  appendFile,
  chmod,
  cp,
  mkdir,
  open,
  readdir,
  readFile,
  rmdir,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { startEmbedded } from '../../../src/embedded/embedded.ts';
import { withFolderLock } from '../../../src/embedded/folder-lock.ts';
import { digestOf } from '../../../src/jobs/snapshot/copy.ts';
import { createSnapshot } from '../../../src/jobs/snapshot/create.ts';
import { findSnapshot, listSnapshots, type Snapshot, snapshotFolder } from '../../../src/jobs/snapshot/folder.ts';
import { restoreEmbedded, restoreInto } from '../../../src/jobs/snapshot/restore.ts';
import { verifySnapshot } from '../../../src/jobs/snapshot/verify.ts';
import { failure, record } from '../../support/cli.ts';
import { Processes, until } from '../../support/processes.ts';
import { Source } from './source.ts';

async function failureOf(promise: Promise<unknown>): Promise<{ code: string; message: string }> {
  return promise.then(
    () => Promise.reject(new Error('it was not refused')),
    (error) => error,
  );
}

describe('Snapshots', () => {
  const processes = new Processes();
  let source: Source;
  let ownStore: Source['ownStore'];
  let store: Redis;
  let folder: string;
  let settings: Record<string, string>;
  let target: Source['target'];
  const make = (keep: number): Promise<Snapshot> => source.make(keep);
  const names = async (): Promise<string[]> => (await listSnapshots(folder)).map(({ snapshot }) => snapshot);

  before(async () => {
    source = await Source.start();
    ({ ownStore, store, folder, target } = source);
    settings = { DATA_DIR: ownStore.dataDir };
  });
  afterEach(() => processes.clear());
  after(() => ownStore.stop());

  it('are written by snapshot create with a record next to them, and shown by list and verify', async () => {
    const created = await record(['snapshot', 'create'], settings);
    expect(created).to.have.all.keys('snapshot', 'createdAt', 'bytes', 'sha256', 'keys', 'redisVersion');
    expect(created.snapshot).to.equal(created.createdAt.replace(/[:.]/g, '-'));
    const path = join(folder, `${created.snapshot}.rdb`);
    expect(await digestOf(path)).to.deep.equal({ bytes: created.bytes, sha256: created.sha256 });
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect(await record(['snapshot', 'list'], settings)).to.deep.equal({ snapshots: [created], nextCursor: null });
    const { createdAt, bytes, sha256, keys } = created;
    const checked = await record(['snapshot', 'verify', created.snapshot], settings);
    expect(checked).to.deep.equal({ verified: path, createdAt, bytes, sha256, keys });
    // The server's own dump file, a second copy of everything, is removed.
    expect(await readdir(ownStore.dataDir)).not.to.include('dump.rdb');
  });

  it('are closed to other users with their folder, whatever was there before', async () => {
    const { snapshot } = await make(9);
    const files = ['rdb', 'json'].map((type) => join(folder, `${snapshot}.${type}`));
    for (const path of files) await chmod(path, 0o644);
    await chmod(folder, 0o755);
    await make(9);
    const modes = await Promise.all([...files, folder].map(async (path) => (await stat(path)).mode & 0o777));
    expect(modes).to.deep.equal([0o600, 0o600, 0o700]);
  });

  it('do not wait for another one past the time that they are given', async () => {
    const signal = AbortSignal.timeout(50);
    const options = { folder, keep: 9, embedded: true, signal };
    const failed = await withFolderLock(folder, 0, () => failureOf(createSnapshot(store, options)));
    expect(failed).to.have.property('name', 'AbortError');
  });

  it('are checked against their record, whichever path names them', async () => {
    const [newest] = await listSnapshots(folder);
    const path = join(folder, `${newest?.snapshot}.rdb`);
    const shown = relative(process.cwd(), path);
    for (const name of [path, shown, `./${shown}`, path.replaceAll('/', '//')])
      expect((await findSnapshot(folder, name)).record, name).to.deep.equal(newest);
  });

  it('are kept up to SNAPSHOT_KEEP, the newest; partial files of a crash are removed', async () => {
    await make(9);
    const [newest = ''] = await names();
    const orphan = '2020-01-01T00-00-00-000Z.rdb';
    for (const name of [`${newest}.rdb.0a1b2c3d.part`, orphan, 'by-hand.rdb'])
      await writeFile(join(folder, name), 'REDIS');
    const record = await readFile(join(folder, `${newest}.json`));
    await writeFile(join(folder, 'copy.json'), record);
    const created = await make(2);
    expect(await names()).to.deep.equal([created.snapshot, newest]);
    const left = [created.snapshot, newest].flatMap((name) => [`${name}.json`, `${name}.rdb`]);
    expect((await readdir(folder)).sort()).to.deep.equal([...left, 'by-hand.rdb', 'copy.json'].sort());
  });

  it('are complete if made at the same time', async () => {
    const created = await Promise.all([make(5), make(5), make(5)]);
    for (const { snapshot, bytes, sha256 } of created) {
      expect(await digestOf(join(folder, `${snapshot}.rdb`))).to.deep.equal({ bytes, sha256 });
    }
    expect(new Set(created.map(({ snapshot }) => snapshot)).size).to.equal(3);
  });

  it('contain everything answered before their moment, even during another save; a failed one leaves none', async () => {
    await store.config('SET', 'rdb-key-save-delay', '30000');
    const saves = async () => Number(/rdb_saves:(\d+)/.exec(await store.info('persistence'))?.[1]);
    await store.bgsave();
    await store.set('late', 1);
    const before = await saves();
    const making = make(9);
    await until(async () => (await saves()) > before);
    const during = Date.now();
    await store.config('SET', 'rdb-key-save-delay', '0');
    const created = await making;
    expect(Date.parse(created.createdAt)).to.be.at.most(during);
    const { keys } = await verifySnapshot(await findSnapshot(folder, created.snapshot), target.program);
    expect([keys, created.keys]).to.deep.equal([await store.dbsize(), await store.dbsize()]);
    await store.del('late');
    await store.config('SET', 'rdb-key-save-delay', '30000');
    await store.bgrewriteaof();
    await store.config('SET', 'rdb-key-save-delay', '0');
    expect((await make(9)).keys, 'made after a rewrite of the log').to.equal(await store.dbsize());

    await mkdir(join(ownStore.dataDir, 'dump.rdb'));
    expect((await failureOf(make(9))).code).to.equal('SNAPSHOT_FAILED');
    expect(await names()).to.include(created.snapshot);
    await rmdir(join(ownStore.dataDir, 'dump.rdb'));
  });

  it('are not restored if their file was changed, truncated, lengthened or swapped', async () => {
    const created = await make(9);
    const copies = await processes.folder();
    const damaged = async (name: string, change: (path: string) => Promise<unknown>): Promise<string> => {
      const path = join(copies, name, `${created.snapshot}.rdb`);
      await mkdir(join(copies, name));
      for (const ending of ['rdb', 'json'])
        await cp(join(folder, `${created.snapshot}.${ending}`), path.replace(/rdb$/, ending));
      await change(path);
      return path;
    };
    const flip = async (path: string): Promise<void> => {
      const handle = await open(path, 'r+');
      await handle.write(Buffer.from('~'), 0, 1, Math.floor(created.bytes / 2));
      await handle.close();
    };
    const paths = await Promise.all([
      damaged('flipped', flip),
      damaged('short', async (path) => writeFile(path, (await readFile(path)).subarray(0, -9))),
      damaged('long', (path) => appendFile(path, 'x')),
      damaged('record too', async (path) => {
        await flip(path);
        await writeFile(path.replace(/rdb$/, 'json'), JSON.stringify({ ...created, ...(await digestOf(path)) }));
      }),
    ]);
    for (const path of paths) {
      const file = await findSnapshot(folder, path);
      const { code, message } = await failureOf(verifySnapshot(file, target.program));
      expect(code).to.equal('SNAPSHOT_DAMAGED');
      expect(message).to.match(path.includes('record too') ? /redis-check-rdb rejects it \(.*\)/ : /SHA-256/);
    }
    const [path = '', , , both = ''] = paths;
    expect((await failure(['snapshot', 'verify', path], settings)).code).to.equal('SNAPSHOT_DAMAGED');
    const dataDir = join(copies, 'target');
    const restoring = restoreEmbedded(await findSnapshot(folder, both), { ...target, dataDir });
    expect((await failureOf(restoring)).code).to.equal('SNAPSHOT_DAMAGED');
    expect(await readdir(dataDir)).to.deep.equal([]);
    await mkdir(join(copies, 'folder.rdb'));
    for (const name of ['x', join(copies, 'x.rdb'), join(copies, 'folder.rdb')])
      expect((await failureOf(findSnapshot(folder, name))).code).to.equal('SNAPSHOT_NOT_FOUND');
  });

  it('are restored only where no store runs or has data, and only if the clock is not behind', async () => {
    const { snapshot } = await make(9);
    const file = await findSnapshot(folder, snapshot);
    const into = (dataDir: string) => restoreEmbedded(file, { ...target, dataDir });
    expect((await failure(['snapshot', 'restore', snapshot], settings)).code).to.equal('STORE_RUNNING');
    const dataDir = await processes.folder();
    expect((await into(dataDir)).organizations).to.equal(1);
    const full = await failureOf(into(dataDir));
    expect(full.code).to.equal('STORE_NOT_EMPTY');
    expect(full.message).to.include(join(dataDir, 'appendonlydir'));

    const later = snapshotFolder(dataDir);
    await mkdir(later);
    const future = { ...(file.record as Snapshot), snapshot: 'later', createdAt: '2999-01-01T00:00:00.000Z' };
    await writeFile(join(later, 'later.json'), JSON.stringify(future));
    expect((await failureOf(into(dataDir))).code).to.equal('CLOCK_BEHIND');
    const ahead = { ...file, record: future };
    const elsewhere = { ...target, dataDir: await processes.folder() };
    expect((await failureOf(restoreEmbedded(ahead, elsewhere))).code).to.equal('CLOCK_BEHIND');
    expect((await failureOf(restoreInto(await ownStore.admin(), ahead, elsewhere))).code).to.equal('CLOCK_BEHIND');
  });

  it('replace an embedded store without keys', async () => {
    const { snapshot } = await make(9);
    const dataDir = await processes.folder();
    await (await startEmbedded({ dataDir, log: () => undefined })).stop();
    const { keys, organizations } = await restoreEmbedded(await findSnapshot(folder, snapshot), { ...target, dataDir });
    expect(keys).to.be.greaterThan(0);
    expect(organizations, 'whose epochs are new').to.equal(1);
    const again = await startEmbedded({ dataDir, log: () => undefined });
    expect(again).to.include({ wasEmpty: false, wasClean: true });
    await again.stop();
  });

  it("are refused if the server's files are on another machine, even if the path exists here", async () => {
    const elsewhere = await processes.folder();
    await writeFile(join(elsewhere, 'dump.rdb'), 'REDIS');
    const before = new Date(Date.now() - 60_000);
    await utimes(join(elsewhere, 'dump.rdb'), before, before);
    for (const dir of [elsewhere, '/nowhere']) {
      const remote = new Proxy(store, {
        get: (target, name) => {
          if (name === 'call') return async () => ['dir', dir, 'dbfilename', 'dump.rdb'];
          const member: unknown = Reflect.get(target, name);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
      const refused = createSnapshot(remote, { folder: join(elsewhere, 'snapshots'), keep: 1, embedded: false });
      expect((await failureOf(refused)).code).to.equal('SNAPSHOTS_UNAVAILABLE');
    }
  });
});
