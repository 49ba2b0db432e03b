import { readdir, readFile, stat, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type EmbeddedRedis, findEmbedded, startEmbedded } from '../../src/embedded/embedded.ts';
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

  it('is one server for eight concurrent starts', async () => {
    const folder = await stores.folder();
    const all = await Promise.all(Array.from({ length: 8 }, () => stores.start(folder)));
    const pids = await Promise.all(all.map((store) => pidOfServer(store.socketPath)));
    expect(new Set(pids).size).to.equal(1);
    expect((await readFile(join(folder, 'redis.log'), 'utf8')).match(/ready to accept connections/gi)).to.have.lengthOf(
      1,
    );
  });

  it('is one server for concurrent processes, despite locks of dead ones', async () => {
    const folder = await stores.folder();
    await writeFile(join(folder, 'lock.1-never.0'), '');
    await writeFile(join(folder, `lock.${process.pid}-never.0`), '');
    const others = await Promise.all([stores.startInOtherProcess(folder), stores.startInOtherProcess(folder)]);
    const log = await readFile(join(folder, 'redis.log'), 'utf8');
    expect(log.match(/ready to accept connections/gi)).to.have.lengthOf(1);
    for (const other of others) await other.end('SIGTERM');
    expect(await answers(join(folder, 'redis.sock'))).to.equal(false);
    expect((await readdir(folder)).filter((name) => name.startsWith('lock.'))).to.deep.equal([]);
  });

  it('is stopped by its owner, and only disconnected by those that joined', async () => {
    const folder = await stores.folder();
    const owner = await stores.start(folder);
    const guest = await stores.start(folder);
    expect(guest.socketPath).to.equal(owner.socketPath);
    await guest.stop();
    expect(await answers(owner.socketPath)).to.equal(true);
    await owner.stop();
    expect(await answers(owner.socketPath)).to.equal(false);
  });

  it('is passed on by its owner if it outlives processes, and stopped by its last user', async () => {
    const folder = await stores.folder();
    const outliving = { outlivesProcess: true };
    const users = [await stores.start(folder, outliving)];
    for (let i = 0; i < 2; i++) users.push(await stores.start(folder, outliving));
    const [first, second, third] = users as [EmbeddedRedis, EmbeddedRedis, EmbeddedRedis];
    const pid = await pidOfServer(first.socketPath);
    await first.stop();
    expect(await pidOfServer(third.socketPath)).to.equal(pid);
    await Promise.all([second.stop(), third.stop()]);
    // It is no child of the process that tells it to end.
    await until(() => !isRunning(pid));
    expect(stores.lines).to.deep.equal([]);
    expect(await stores.start(folder)).to.include({ wasClean: true });
  });

  it('is taken over from an owner that was killed', async () => {
    const { folder, other, pid } = await startedElsewhere();
    const guest = await stores.start(folder);
    await other.end('SIGKILL');
    expect(isRunning(pid)).to.equal(true);

    const store = await stores.start(folder);
    expect(store).to.include({ wasEmpty: false, wasClean: true });
    expect(await pidOfServer(store.socketPath)).to.equal(pid);
    await guest.stop();
    expect(await pidOfServer(store.socketPath)).to.equal(pid);
    await store.stop();
    await until(() => !isRunning(pid));
    expect(await stores.start(folder)).to.include({ wasClean: true });
  });

  it('is stopped by the last user when its owner was killed', async () => {
    const folder = await stores.folder();
    const other = await stores.startInOtherProcess(folder);
    const guest = await stores.start(folder);
    const pid = await pidOfServer(guest.socketPath);
    await other.end('SIGKILL');
    await guest.stop();
    await until(() => !isRunning(pid));
  });

  it('is restarted for those that joined when its owner stops it', async () => {
    // If the socket is elsewhere, its path may differ per process.
    const folder = join(await stores.folder(), 'd'.repeat(100));
    let restarts = 0;
    const owner = await stores.start(folder);
    const { TMPDIR } = process.env;
    process.env['TMPDIR'] = await stores.folder();
    const guest = await stores.start(folder, { onUncleanRestart: () => restarts++ });
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
    expect(guest.socketPath).to.equal(owner.socketPath);
    await owner.stop();
    await until(() => answers(guest.socketPath));
    await guest.stop();
    expect(await answers(guest.socketPath)).to.equal(false);
    expect(restarts).to.equal(0);
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
