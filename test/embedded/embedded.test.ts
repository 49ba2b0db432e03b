import { readdir, readFile, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { findEmbedded, startEmbedded } from '../../src/embedded/embedded.ts';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { until } from '../support/processes.ts';
import { answers, ask, isRunning, pidOfServer, Stores } from './support.ts';

describe('the embedded Redis', () => {
  const stores = new Stores();

  before(async () => {
    // The first run ever downloads the program.
    await findRedisServer({ log: console.log });
  });
  afterEach(() => stores.clear());

  /** A store that another process started, with some data. */
  const startedElsewhere = async () => {
    const folder = await stores.folder();
    const other = await stores.startInOtherProcess(folder);
    const path = join(folder, 'redis.sock');
    const pid = await pidOfServer(path);
    await ask(path, 'SET', 'colour', 'green');
    return { folder, other, path, pid };
  };

  it('keeps its data across a restart', async () => {
    const folder = await stores.folder();
    const first = await stores.start(join(folder, 'new', 'data'));
    expect(first).to.include({ wasEmpty: true, wasClean: true });
    await ask(first.socketPath, 'SET', 'colour', 'green');
    await first.stop();
    expect(await answers(first.socketPath)).to.equal(false);

    const second = await stores.start(join(folder, 'new', 'data'));
    expect(second).to.include({ wasEmpty: false, wasClean: true });
    expect(await ask(second.socketPath, 'GET', 'colour')).to.equal('green');
  });

  it('listens only on a private socket, writes every change to disk, and is not reached by Ctrl-C', async () => {
    const store = await stores.start(await stores.folder(), {
      settings: { 'hash-max-listpack-value': '99', port: '1' },
    });
    const setting = async (name: string) => (await ask(store.socketPath, 'CONFIG', 'GET', name)).split(',')[1];
    expect(await setting('port')).to.equal('0');
    expect(await setting('save')).to.equal('');
    expect(await setting('appendonly')).to.equal('yes');
    expect(await setting('appendfsync')).to.equal('everysec');
    expect(await setting('maxmemory-policy')).to.equal('noeviction');
    expect(await setting('hash-max-listpack-entries')).to.equal('17');
    expect(await setting('hash-max-listpack-value')).to.equal('99');
    expect((await stat(store.socketPath)).mode & 0o777).to.equal(0o700);
    process.kill(-(await pidOfServer(store.socketPath)), 0);
  });

  it('is restarted after it was killed, and reports the unclean shutdown', async () => {
    let restarts = 0;
    const folder = await stores.folder();
    await (await stores.start(folder)).stop();
    const store = await stores.start(folder, { onUncleanRestart: () => restarts++ });
    await ask(store.socketPath, 'SET', 'colour', 'green');
    process.kill(await pidOfServer(store.socketPath), 'SIGKILL');
    await until(() => restarts === 1);
    expect(await ask(store.socketPath, 'GET', 'colour')).to.equal('green');
    expect(stores.lines[0]).to.match(/^the embedded redis-server has exited, restarting it: .*redis\.log\)$/);
    expect(stores.lines.slice(1)).to.deep.equal(['the embedded redis-server is running again']);
  });

  it('is retried while it cannot be started, and can be stopped meanwhile', async () => {
    const folder = await stores.folder();
    const program = await findRedisServer({ log: console.log });
    const command = join(folder, 'redis-server');
    await symlink(program.command, command);
    const store = await stores.start(folder, { program: { ...program, command } });
    await unlink(command);
    process.kill(await pidOfServer(store.socketPath), 'SIGKILL');
    await until(() => stores.lines.length > 1);
    expect(stores.lines[1]).to.contain('ENOENT');
    await sleep(200);
    await symlink(program.command, command);
    await store.stop();
    expect(stores.lines).to.have.lengthOf(2);
    expect(await answers(store.socketPath)).to.equal(false);
    expect((await readFile(join(folder, 'redis.log'), 'utf8')).match(/ready to accept/gi)).to.have.lengthOf(1);
    expect(await stores.start(folder)).to.include({ wasClean: false });
  });

  it('loads a log that a power cut has truncated', async () => {
    const folder = await stores.folder();
    const store = await stores.start(folder);
    await ask(store.socketPath, 'SET', 'colour', 'green');
    await store.stop();
    const logs = join(folder, 'appendonlydir');
    const name = (await readdir(logs)).find((file) => file.endsWith('.incr.aof')) ?? '';
    await writeFile(join(logs, name), '*3\r\n$3\r\nSET\r\n$4\r\nhal', { flag: 'a' });
    const again = await stores.start(folder);
    expect(await ask(again.socketPath, 'GET', 'colour')).to.equal('green');
  });

  it('has one owner of eight concurrent starts; the others are refused', async () => {
    const folder = await stores.folder();
    const starts = await Promise.allSettled(Array.from({ length: 8 }, () => stores.start(folder)));
    const refused = starts.flatMap((start) => (start.status === 'rejected' ? [String(start.reason)] : []));
    expect(refused).to.have.lengthOf(7);
    for (const line of refused)
      expect(line).to.match(/^Error: DATA_DIR: \S+ belongs to the running process \d+: .* or set REDIS_URL to a Redis/);
    const [owner] = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []));
    expect(await answers(owner?.socketPath ?? '')).to.equal(true);
    expect((await readFile(join(folder, 'redis.log'), 'utf8')).match(/ready to accept connections/gi)).to.have.lengthOf(
      1,
    );
    await owner?.stop();
    expect(await stores.start(folder)).to.include({ wasClean: true });
  });

  it('belongs to another process while that lives, despite locks of dead ones', async () => {
    const folder = await stores.folder();
    await writeFile(join(folder, 'lock.1-never.0'), '');
    await writeFile(join(folder, `lock.${process.pid}-never.0`), '');
    const other = await stores.startInOtherProcess(folder);
    expect(await stores.start(folder).catch(String)).to.contain(`process ${other.pid}: `);
    await other.end('SIGTERM');
    expect(await answers(join(folder, 'redis.sock'))).to.equal(false);
    expect((await readdir(folder)).filter((name) => name.startsWith('lock.'))).to.deep.equal([]);
    expect(await stores.start(folder)).to.include({ wasClean: true });
  });

  it('is taken over, at its socket elsewhere too, from an owner that was killed, and stopped by the new one', async () => {
    // If the socket is elsewhere, its path may differ per process.
    for (const [name, TMPDIR] of [
      ['data', process.env['TMPDIR']],
      ['d'.repeat(100), await stores.folder()],
    ] as const) {
      const folder = join(await stores.folder(), name);
      const other = await stores.startInOtherProcess(folder, { ...process.env, TMPDIR });
      const path = (await findEmbedded(folder)) ?? '';
      const pid = await pidOfServer(path);
      await ask(path, 'SET', 'colour', 'green');
      await other.end('SIGKILL');
      expect(isRunning(pid)).to.equal(true);
      const store = await stores.start(folder);
      expect(store).to.include({ wasEmpty: false, wasClean: true, socketPath: path });
      expect(await pidOfServer(path)).to.equal(pid);
      expect(await stores.start(folder).catch(String)).to.contain(`process ${process.pid}: `);
      await store.stop();
      await until(() => !isRunning(pid));
      const again = await stores.start(folder);
      expect(again).to.include({ wasClean: true, wasEmpty: false });
      await again.stop();
    }
  });

  it('is left to the owner that came while it could not be restarted', async () => {
    const folder = await stores.folder();
    const settings: Record<string, string> = {};
    const first = await stores.start(folder, { settings });
    settings['no-such-setting'] = '1';
    process.kill(await pidOfServer(first.socketPath), 'SIGKILL');
    await until(() => stores.lines.length > 1);
    // Refused while the first one tries.
    await until(() =>
      stores.start(folder).then(
        () => true,
        () => false,
      ),
    );
    await first.stop();
    expect(await answers(first.socketPath)).to.equal(true);
  });

  it('is replaced when its socket was deleted', async () => {
    const { folder, other, path, pid } = await startedElsewhere();
    await other.end('SIGKILL');
    await unlink(path);
    const store = await stores.start(folder);
    await until(() => !isRunning(pid));
    expect(await ask(store.socketPath, 'GET', 'colour')).to.equal('green');
  });

  it('is killed, which is unclean, if it refuses to stop or cannot be asked to', async () => {
    const folder = await stores.folder();
    const path = join(folder, 'redis.sock');
    const ways: [() => Promise<unknown>, end: string][] = [
      [() => ask(path, 'ACL', 'SETUSER', 'default', '-shutdown'), 'had to be killed'],
      [() => unlink(path), 'undefined'],
    ];
    for (const [spoil, end] of ways) {
      const store = await startEmbedded({ dataDir: folder, log: () => undefined });
      const pid = await pidOfServer(path);
      await spoil();
      expect(String(await store.stop().catch(String))).to.contain(end);
      await until(() => !isRunning(pid));
      const again = await stores.start(folder);
      expect(again.wasClean).to.equal(false);
      await again.stop();
    }
  });

  it("is found by operators' commands", async () => {
    const folder = await stores.folder();
    expect(await findEmbedded(join(folder, 'nowhere'))).to.equal(null);
    expect(await findEmbedded(folder)).to.equal(null);
    const store = await stores.start(folder);
    expect(await findEmbedded(folder)).to.equal(store.socketPath);
    await store.stop();
    expect(await findEmbedded(folder)).to.equal(null);
  });

  it('reports in one line why it cannot start, and stays clean', async () => {
    const folder = await stores.folder();
    await (await stores.start(folder)).stop();
    const failure = await stores.start(folder, { settings: { 'no-such-setting': '1' } }).catch((error: Error) => error);
    expect(failure)
      .to.be.an('error')
      .with.property('message')
      .that.matches(/^the embedded redis-server exited immediately: .*no-such-setting.*redis\.log\)$/);
    const program = { ...(await findRedisServer({ log: console.log })), command: '/nowhere' };
    expect(await stores.start(folder, { program }).catch(String)).to.contain('ENOENT');
    expect(await stores.start(folder)).to.include({ wasEmpty: true, wasClean: true });
  });
});
