import { appendFile, mkdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { findRedisServer, type RedisServer } from '../../src/embedded/server-binary.ts';
import { dropUnfinished } from '../../src/embedded/unfinished.ts';
import { until } from '../support/processes.ts';
import { ask, pidOfServer, Stores } from './support.ts';

const log = 'appendonly.aof.1.incr.aof';

/** A command in the log's format. */
function command(...words: string[]): string {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`;
}

function call(...commands: string[]): string {
  return [command('MULTI'), ...commands, command('EXEC')].join('');
}

describe('the log of a server that was killed during a write', () => {
  const stores = new Stores();
  let program: RedisServer;
  before(async () => {
    program = await findRedisServer({ log: () => undefined });
  });
  afterEach(() => stores.clear());

  async function folderWith(content: string | Buffer, name = log): Promise<{ folder: string; path: string }> {
    const folder = await stores.folder();
    await mkdir(join(folder, 'appendonlydir'));
    const path = join(folder, 'appendonlydir', name);
    const manifest = `file appendonly.aof.1.base.rdb seq 1 type b\nfile ${name} seq 1 type i\n`;
    await writeFile(join(folder, 'appendonlydir', 'appendonly.aof.manifest'), manifest);
    await writeFile(path, content);
    return { folder, path };
  }

  it('is truncated after the last complete call, wherever it ends', async () => {
    // A payload may look like the log itself.
    const looksAlike = command('SET', 'a', `${command('EXEC')}MULTI\r\n\0\nfile\n*`);
    const inCall = call(looksAlike, command('SET', 'ü', ''));
    const parts = [command('SELECT', '0'), '#TS:1700000000\r\n', inCall, command('DEL', 'a')];
    const whole = Buffer.from(parts.join(''));
    const ends = [0, ...parts.map((_, i) => Buffer.byteLength(parts.slice(0, i + 1).join('')))];
    for (let size = 0; size <= whole.length; size++) {
      const { folder, path } = await folderWith(whole.subarray(0, size));
      const kept = Math.max(...ends.filter((end) => end <= size));
      expect([size, await dropUnfinished(folder, program)]).to.deep.equal([size, size - kept]);
      expect((await readFile(path)).equals(whole.subarray(0, kept))).to.equal(true);
    }
  });

  it('may have long commands, and many', async () => {
    const long = command('SET', 'a', 'x'.repeat(3_000_000));
    const many = call(command('SET', 'b', '1'), command('SET', 'c', '1')).repeat(30_000);
    const { folder, path } = await folderWith(`${long}${many}${call(long, command('DEL', 'c')).slice(0, -9)}`);
    expect(await dropUnfinished(folder, program)).to.equal(call(long, command('DEL', 'c')).length - 9);
    expect((await stat(path)).size).to.equal(long.length + many.length);
  });

  it('is left unchanged if it is damaged, empty or missing', async () => {
    for (const damaged of [
      '\0\0\0',
      `${command('SET', 'a', '1')}\0\0`,
      '*1\r\n$-5\r\n',
      '*x\r\n',
      '*1\r\n+OK\r\n',
      '*2\n',
      '*2\0\0\r\n',
      '*2\r\0\n',
      '*1\r\n$7\0\0',
      command('EXEC'),
    ]) {
      const { folder, path } = await folderWith(`${damaged}${call(command('SET', 'a', '1')).slice(0, -3)}`);
      expect([damaged, await dropUnfinished(folder, program)]).to.deep.equal([damaged, 0]);
      expect((await readFile(path, 'utf8')).startsWith(damaged)).to.equal(true);
    }
    expect(await dropUnfinished((await folderWith('')).folder, program)).to.equal(0);
    expect(await dropUnfinished(await stores.folder(), program)).to.equal(0);
  });

  it('is left unchanged, with an error, by a program that cannot check it', async () => {
    const command = join(await stores.folder(), 'redis-server');
    await writeFile(command, `#!/bin/sh\nexec '${program.command}' "$@"\n`, { mode: 0o700 });
    const { folder, path } = await folderWith(call('SET').slice(0, -3));
    const error = await dropUnfinished(folder, { ...program, command }).catch(String);
    expect(error).to.match(/^Error: \S+redis-server, as redis-check-aof, cannot check .+$/);
    expect(await readFile(path, 'utf8')).to.equal(call('SET').slice(0, -3));
  });

  it('is truncated at a gap that a power cut left during a rewrite', async () => {
    const folder = await stores.folder();
    const store = await stores.start(folder);
    await ask(store.socketPath, 'SET', 'a', '1');
    await ask(store.socketPath, 'SET', 'b', '1');
    await store.stop();
    await rm(join(folder, 'clean'));
    const logs = join(folder, 'appendonlydir');
    await truncate(join(logs, log), (await stat(join(logs, log))).size - 3);
    await writeFile(join(logs, 'appendonly.aof.2.incr.aof'), command('SELECT', '0') + command('SET', 'c', '1'));
    await appendFile(join(logs, 'appendonly.aof.manifest'), 'file appendonly.aof.2.incr.aof seq 2 type i\n');
    const again = await stores.start(folder);
    expect(await ask(again.socketPath, 'MGET', 'a', 'b', 'c')).to.equal('1,,');
    await ask(again.socketPath, 'SET', 'd', '1');
    await again.stop();
    const { socketPath } = await stores.start(folder);
    expect(await ask(socketPath, 'MGET', 'a', 'b', 'c', 'd')).to.equal('1,,,1');
  });

  it('never applies half of an incomplete call, even after two restarts', async () => {
    const folder = await stores.folder();
    const both = (one: string, other: string): string => `redis.call('SET','${one}',1) redis.call('SET','${other}',1)`;
    const { socketPath } = await stores.start(folder);
    const killed = async (): Promise<void> => {
      const pid = await pidOfServer(socketPath);
      stores.lines.length = 0;
      process.kill(pid, 'SIGKILL');
      await until(() => stores.lines.length > 0);
    };
    const startedAgain = () => until(() => stores.lines.some((line) => line.endsWith('is running again')));

    await ask(socketPath, 'EVAL', both('a', 'b'), '0');
    await killed();
    const path = join(folder, 'appendonlydir', log);
    await truncate(path, (await stat(path)).size - 3);
    await startedAgain();
    const truncated =
      /^the embedded redis-server was killed during a write: truncated an incomplete call \(the last \d+ bytes of its log\)$/;
    expect(stores.lines.filter((line) => truncated.test(line)).length).to.equal(1);
    await ask(socketPath, 'EVAL', both('c', 'd'), '0');
    await killed();
    await startedAgain();
    expect(stores.lines.filter((line) => truncated.test(line))).to.deep.equal([]);
    expect(await ask(socketPath, 'MGET', 'a', 'b', 'c', 'd')).to.equal(',,1,1');
  });
});
