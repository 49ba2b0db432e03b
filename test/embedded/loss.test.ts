import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { awaitStore } from '../../src/embedded/await-store.ts';
import { findEmbedded, startEmbedded } from '../../src/embedded/embedded.ts';
import { isAlive } from '../../src/embedded/process-identity.ts';
import { whenReady } from '../../src/embedded/ready.ts';
import { spawnRedis } from '../../src/embedded/redis-process.ts';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { readRecord, writeRecord } from '../../src/embedded/store-folder.ts';
import { until } from '../support/processes.ts';
import { answers, ask, isRunning, pidOfServer, Stores } from './support.ts';

describe('the embedded Redis after an unclean end', () => {
  const stores = new Stores();
  afterEach(() => stores.clear());

  it('has afterLoss called before anyone can use it, until that succeeds once', async () => {
    const folder = await stores.folder();
    const other = await stores.startInOtherProcess(folder);
    const path = (await findEmbedded(folder)) ?? '';
    const pid = await pidOfServer(path);
    await other.end('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid));

    const failing = startEmbedded({
      dataDir: folder,
      log: () => undefined,
      afterLoss: () => Promise.reject(new Error('no')),
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal('no');
    expect(await answers(path)).to.equal(false);

    const seen: string[] = [];
    const afterLoss = async (): Promise<void> => {
      seen.push('begun');
      await until(() => answers(path));
      expect(await stores.start(folder).catch(String)).to.contain('belongs to the running process');
      seen.push('done');
    };
    expect((await stores.start(folder, { afterLoss })).wasClean).to.equal(false);
    expect(seen).to.deep.equal(['begun', 'done']);
  });

  it('has afterLoss called after each unclean end only, even if it ends again meanwhile', async () => {
    const folder = await stores.folder();
    let losses = 0;
    const afterLoss = async (link: Redis): Promise<void> => {
      if (++losses > 1) return;
      // It ends again before anybody listens for that.
      process.kill(await pidOfServer(path), 'SIGKILL');
      await until(() => link.status === 'end');
    };
    await (await stores.start(folder, { afterLoss })).stop();
    const { socketPath: path, stop } = await stores.start(folder, { afterLoss });
    process.kill(await pidOfServer(path), 'SIGKILL');
    await until(() => losses === 2);
    await until(() => answers(path));
    await stop();
    await stores.start(folder, { afterLoss });
    expect(losses).to.equal(2);
  });

  it('a stop on a full disk counts as a loss: the last acknowledged write was not saved', async () => {
    const folder = await stores.folder();
    const program = await findRedisServer({ log: () => undefined });
    const command = join(await stores.folder(), 'redis-server');
    const limited = `#!/bin/sh\ntrap '' XFSZ\nulimit -f 200\nexec '${program.command}' "$@"\n`;
    await writeFile(command, limited, { mode: 0o700 });
    const full = await stores.start(folder, { program: { ...program, command } });
    let answered = 0;
    for (let answer = 'OK'; answer === 'OK'; answered++)
      answer = await ask(full.socketPath, 'SET', String(answered), 'x'.repeat(30_000)).catch(String);
    await full.stop();

    const losses: number[] = [];
    const again = await stores.start(folder, { afterLoss: async (link) => void losses.push(await link.dbsize()) });
    expect(again.wasClean).to.equal(false);
    // More than the last acknowledged write if the disk was busy before it was full.
    expect(losses).to.have.lengthOf(1);
    expect(losses[0]).to.be.below(answered - 1);
  });

  it('removes the temporary files of a rewrite or dump during which it was killed', async () => {
    const folder = await stores.folder();
    // Microseconds per key, so that a rewrite takes seconds.
    const settings = { 'rdb-key-save-delay': '5000' };
    let restarts = 0;
    const store = await stores.start(folder, { settings, onUncleanRestart: () => restarts++ });
    await fill(store.socketPath);
    for (const command of ['BGREWRITEAOF', 'BGSAVE']) {
      const halfWritten = async () => (await readdir(folder)).filter((name) => name.startsWith('temp-'));
      await ask(store.socketPath, command);
      await until(async () => (await halfWritten()).length > 0);
      const before = restarts;
      process.kill(await pidOfServer(store.socketPath), 'SIGKILL');
      // Its child, whose pid is in the name, would continue.
      for (const name of await halfWritten()) process.kill(Number(/\d+/.exec(name)?.[0]), 'SIGKILL');
      for (const name of ['temp-rewriteaof-bg-1.aof', 'no-temp-1.rdb']) await writeFile(join(folder, name), '');
      // Of a restore that was killed.
      await mkdir(join(folder, 'temp-restore-0a1b2c3d'));
      await writeFile(join(folder, 'temp-restore-0a1b2c3d', 'appendonly.aof.1.base.rdb'), '');
      await until(() => restarts > before);
      expect(await halfWritten()).to.deep.equal([]);
      expect(await readdir(folder)).to.include('no-temp-1.rdb');
      expect(await ask(store.socketPath, 'DBSIZE')).to.equal('8000');
    }
  });

  it('delays a start while it loads, however long, with a log line at intervals', async () => {
    const folder = await stores.folder();
    const store = await stores.start(folder);
    await fill(store.socketPath);
    await store.stop();
    stores.lines.length = 0;
    // Microseconds per key; it serves clients every 1,024 keys.
    const slow = { 'key-load-delay': '300' };
    const starting = stores.start(folder, { settings: slow });
    const lines: string[] = [];
    const log = (line: string): unknown => lines.push(line);
    const signal = new AbortController().signal;
    const waiting = awaitStore(store.socketPath, { log, signal, logEveryMs: 100, timeoutMs: 1000 });
    const loading = () => lines.filter((line) => line.startsWith('the store is loading'));
    await until(() => loading().length > 0);
    const { server } = (await readRecord(folder)) ?? { server: '' };
    (
      await whenReady(server, { socketPath: store.socketPath, dataDir: folder, log: () => undefined }, 1000)
    ).disconnect();
    await waiting;
    expect(loading().length).to.be.greaterThan(2);
    expect(loading().join('\n')).to.match(/^the store is loading its data \(\d+ %\)$/m);
    await starting;
    expect(stores.lines.length).to.be.greaterThan(0);
    for (const line of stores.lines) expect(line).to.match(/^the embedded redis-server is loading its data \(/);
  });

  it('does not delay shutdown while it loads', async () => {
    const folder = await stores.folder();
    const store = await stores.start(folder);
    await fill(store.socketPath);
    await store.stop();
    const loads = async () =>
      (await readFile(join(folder, 'redis.log'), 'utf8')).split('DB loaded from append only file').length;
    const before = await loads();
    const slow = { 'key-load-delay': '3000' };
    const stop = new AbortController();
    const { signal } = stop;
    const starting = stores.start(folder, { settings: slow, signal }).catch((error: Error) => error.name);
    await until(async () => (await readRecord(folder)) !== null);
    const { server = '' } = (await readRecord(folder)) ?? {};
    expect(await stores.start(folder).catch(String)).to.contain('belongs to the running process');
    stop.abort();
    expect(await starting).to.equal('AbortError');
    expect(await loads(), 'it was not loaded').to.equal(before);
    expect(isAlive(server)).to.equal(false);
    expect(await stores.start(folder)).to.include({ wasClean: true, wasEmpty: false });
  });

  it('is stopped while it loads, by a process that takes it over, if its owner was killed', async () => {
    const folder = await realpath(await stores.folder());
    const store = await stores.start(folder);
    await fill(store.socketPath);
    await store.stop();
    const slow = { 'key-load-delay': '300' };
    const program = await findRedisServer({ log: () => undefined });
    const { socketPath } = store;
    const { server, listen } = await spawnRedis({ program, dataDir: folder, socketPath, settings: slow });
    await writeRecord({ dataDir: folder, socketPath, server, owner: '1-never.0' });
    listen();
    await until(() => existsSync(socketPath));
    const stop = new AbortController();
    const starting = stores.start(folder, { signal: stop.signal }).catch((error: Error) => error.name);
    await sleep(200);
    stop.abort();
    expect(await starting).to.equal('AbortError');
    expect(isAlive(server)).to.equal(false);
    expect(await stores.start(folder)).to.include({ wasEmpty: false });
  });

  it('a kill while it is taken over is reported with the log; a kill while it is stopped is unclean', async () => {
    const folder = await stores.folder();
    const killedDuring = async <T>(work: () => Promise<T>): Promise<T> => {
      const pid = await pidOfServer(join(folder, 'redis.sock'));
      // It accepts connections, but does not answer.
      process.kill(pid, 'SIGSTOP');
      const worked = work();
      await sleep(1000);
      process.kill(pid, 'SIGKILL');
      return worked;
    };
    const other = await stores.startInOtherProcess(folder);
    await other.end('SIGKILL');
    const failure = await killedDuring(() => stores.start(folder).catch((error: Error) => error.message));
    expect(failure).to.match(/^the embedded redis-server does not answer \(.*\): .*redis\.log\)$/);
    const again = await stores.start(folder);
    await killedDuring(() => again.stop());
    expect(await stores.start(folder)).to.include({ wasClean: false });
  });

  it('leaves files that it cannot read unchanged, and names the server that may have written them', async () => {
    const folder = await stores.folder();
    const store = await stores.start(folder);
    await ask(store.socketPath, 'SET', 'colour', 'green');
    await store.stop();
    const spoilt = { 'appendonly.aof.1.incr.aof': 'of no format', 'appendonly.aof.1.base.rdb': 'REDIS9999' };
    for (const [name, text] of Object.entries(spoilt)) {
      const path = join(folder, 'appendonlydir', name);
      const before = await readFile(path);
      const after = Buffer.concat([Buffer.from(text), before.subarray(text.length)]);
      await writeFile(path, after);
      const message = await stores.start(folder).catch(String);
      expect(message, name).to.match(
        /exited immediately: .*\(.*redis\.log\): its version is .*REDIS_SERVER.*restore a snapshot$/,
      );
      expect(message).not.to.contain('WARNING');
      expect(await readFile(path)).to.deep.equal(after);
      await writeFile(path, before);
    }
    expect(await ask((await stores.start(folder)).socketPath, 'GET', 'colour')).to.equal('green');
  });

  it('names DATA_DIR in the error if the folder cannot be written', async () => {
    const folder = await stores.folder();
    // Like a full disk, it cannot be written to.
    await mkdir(join(folder, 'server.json.new'));
    expect(await stores.start(folder).catch(String)).to.match(
      /^Error: DATA_DIR: .* cannot be used \(E.*\); it must be a folder .* on a disk with free space$/,
    );
    expect(await answers(join(folder, 'redis.sock'))).to.equal(false);
  });
});

async function fill(socketPath: string): Promise<void> {
  const words = "for n = 1, 8000 do redis.call('SET', n, n) end return redis.call('DBSIZE')";
  expect(await ask(socketPath, 'EVAL', words, '0')).to.equal('8000');
}
