import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { findRedisServer } from '../../../src/embedded/server-binary.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { muster, record } from '../../support/cli.ts';
import { Processes, until } from '../../support/processes.ts';
import { freePort } from '../proxies/proxy.ts';
import { files, page } from './page.ts';

/** The page's block that begins with this line. */
const blockOf = (line: string): string =>
  page
    .split('```ini\n')
    .find((block) => block.startsWith(line))
    ?.split('```')[0] ?? '';

describe('docs/operate/production.md, with a second machine', function () {
  this.timeout(120_000);
  const processes = new Processes();
  const servers: ChildProcess[] = [];
  let folder: string;
  let ports: number[];
  let sentinels: number[];
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-sentinel-'));
    [ports, sentinels] = [
      [await freePort(), await freePort()],
      [await freePort(), await freePort(), await freePort()],
    ];
    const acl = (files.get('/etc/redis/users.acl') ?? '') + blockOf('user replica');
    const [master = 0, replica = 0] = ports;
    for (const port of ports) {
      const home = join(folder, String(port));
      await mkdir(home);
      await writeFile(join(home, 'users.acl'), acl);
      const common = (files.get('/etc/redis/redis.conf') ?? '').replace(
        '/etc/redis/users.acl',
        join(home, 'users.acl'),
      );
      const follows = port === replica ? `replicaof 127.0.0.1 ${master}\n` : '';
      const config = `port ${port}\nbind 127.0.0.1\ndir ${home}\n${common}${blockOf('masteruser')}${follows}`;
      servers.push(await started(home, config));
    }
    const { username, password } = new URL('redis://sentinel:sentinel-password@-');
    const link = new Redis({ port: master, username, password, protocol: 2, enableReadyCheck: false });
    link.on('error', () => undefined);
    await until(async () => (await link.info('replication').catch(() => '')).includes('state=online'));
    for (const port of sentinels) {
      const home = join(folder, String(port));
      await mkdir(home);
      const config = blockOf('sentinel monitor').replace('10.0.0.1 6379', `127.0.0.1 ${master}`);
      servers.push(await started(home, `port ${port}\nbind 127.0.0.1\ndir ${home}\n${config}`, '--sentinel'));
    }
    // They hear of the replica, and of each other, from the master.
    for (const port of sentinels) {
      const sentinel = new Redis({ port, protocol: 2 });
      sentinel.on('error', () => undefined);
      await until(async () => {
        const [, ...fields] = (await sentinel.call('SENTINEL', 'MASTER', 'muster').catch(() => [])) as string[];
        const of = (name: string) => fields[fields.indexOf(name) + 1];
        return of('num-slaves') === '1' && of('num-other-sentinels') === '2';
      });
      sentinel.disconnect();
    }
    link.disconnect();
  });
  after(async () => {
    await processes.clear();
    for (const server of servers) if (server.exitCode === null && server.signalCode === null) server.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  async function started(home: string, config: string, ...more: string[]): Promise<ChildProcess> {
    const file = join(home, 'server.conf');
    await writeFile(file, config);
    const { command, env } = await findRedisServer({ log: () => undefined });
    const server = spawn(command, [file, ...more], { env, stdio: 'ignore' });
    endAtExit(server);
    await once(server, 'spawn');
    return server;
  }

  it('goes on after the loss of the master, with all that was replicated', async () => {
    const hosts = sentinels.map((port) => `127.0.0.1:${port}`).join();
    const [, address = ''] = /REDIS_URL=(redis\+sentinel:[^`]+)`/.exec(page) ?? [];
    const settings = { REDIS_URL: address.replace(/host-1:.*(?=\/muster$)/, hosts) };
    const DATA_DIR = await processes.folder();
    const api = await processes.start({ ...settings, DATA_DIR, ROLE: 'api', LOG_LEVEL: 'fatal' }).ready();
    await processes.start({ ...settings, DATA_DIR, ROLE: 'worker', LOG_LEVEL: 'fatal' }).ready();
    await record(['org', 'create', 'acme'], settings);
    const ready = async () => (await fetch(`${api.url}/readyz`)).status;
    expect(await ready()).to.equal(200);
    const [, replica] = ports;
    const link = new Redis({ port: replica ?? 0, username: 'sentinel', password: 'sentinel-password', protocol: 2 });
    await until(async () => /slave0|master_link_status:up/.test(await link.info('replication')));
    servers[0]?.kill('SIGKILL');
    await until(async () => (await ready()) === 503);
    await until(async () => (await ready()) === 200);
    expect(await link.info('replication')).to.include('role:master');
    expect((await muster(['org', 'list'], settings)).stdout).to.include('acme');
    link.disconnect();
  });
});
