import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { withFolderLock } from '../../src/embedded/folder-lock.ts';
import { identify, isAlive, self } from '../../src/embedded/process-identity.ts';
import { whenReady } from '../../src/embedded/ready.ts';
import { endProcess } from '../../src/embedded/redis-process.ts';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { until } from '../support/processes.ts';
import { isRunning, pidOfServer, Stores } from './support.ts';

describe('The process of a redis-server', () => {
  const stores = new Stores();
  afterEach(() => stores.clear());

  it('is killed if it ignores SIGTERM, but not another process with its pid', async () => {
    const bystander = spawn('sleep', ['60']);
    const stubborn = spawn('sh', ['-c', "trap '' TERM; echo; exec sleep 60"], { stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = once(stubborn, 'exit');
    await once(stubborn.stdout, 'data');
    await endProcess(`${bystander.pid}-another`, 50);
    await endProcess(identify(stubborn.pid ?? 0) ?? '', 50);
    expect(await ended).to.deep.equal([null, 'SIGKILL']);
    expect(bystander.signalCode).to.equal(null);
    bystander.kill();
  });

  it('is not alive when it is a zombie', async () => {
    const parent = spawn('sh', ['-c', 'sleep 60 & echo $!; exec cat'], { stdio: ['pipe', 'pipe', 'ignore'] });
    const pid = Number(await once(parent.stdout, 'data'));
    // Its output shows that the shell, its parent, has exited.
    parent.stdin.write('?');
    await once(parent.stdout, 'data');
    process.kill(pid);
    await until(() => identify(pid) === null);
    expect(isRunning(pid)).to.equal(true);
    expect([isAlive(`${pid}-earlier`), isAlive(self())]).to.deep.equal([false, true]);
    parent.kill();
  });

  it('is waited for until the timeout if it runs but does not answer', async () => {
    const folder = await stores.folder();
    const failure = await whenReady(
      self(),
      { socketPath: join(folder, 'nobody'), dataDir: folder, log: () => undefined },
      50,
    ).catch(String);
    expect(failure).to.contain('did not answer within 0.05 s');
  });

  it('is started under a lock; the error after a timeout names the holder', async () => {
    const folder = await stores.folder();
    const failure = await withFolderLock(folder, 0, () =>
      withFolderLock(folder, 50, async () => 'inside').catch(String),
    );
    expect(failure).to.contain(`waited 0.05 s for the process that holds ${folder}/lock.${process.pid}-`);
  });

  it('exits if its starter is killed before recording it', async () => {
    const folder = await stores.folder();
    const { command, env } = await findRedisServer({ log: () => undefined });
    const REDIS_SERVER = join(await stores.folder(), 'redis-server');
    const late = `kill -9 $PPID; sleep 0.5`;
    await writeFile(REDIS_SERVER, `#!/bin/sh\n[ "$1" = --version ] || { ${late}; }\nexec '${command}' "$@"\n`, {
      mode: 0o700,
    });
    await stores.startInOtherProcess(folder, { ...env, REDIS_SERVER }).catch(() => undefined);
    const store = await stores.start(folder);
    const pid = await pidOfServer(store.socketPath);
    await sleep(1_000);
    expect(await pidOfServer(store.socketPath)).to.equal(pid);
    const log = await readFile(join(folder, 'redis.log'), 'utf8');
    expect(log.match(/ready to accept connections/gi)).to.have.lengthOf(1);
  });
});
