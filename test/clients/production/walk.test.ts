import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { findRedisServer } from '../../../src/embedded/server-binary.ts';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import { listSnapshots, snapshotFolder } from '../../../src/jobs/snapshot/folder.ts';
import { muster, record } from '../../support/cli.ts';
import { findInstalled, kindOf } from '../../support/debian.ts';
import { type MusterProcess, Processes, until } from '../../support/processes.ts';
import { promtool } from '../alerts/programs.ts';
import { freePort, type RunningProxy, startNginx } from '../proxies/proxy.ts';
import { commands, files, ofMuster, page, root, settingsOf, textOf } from './page.ts';

const run = promisify(execFile);
const names = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
type Name = (typeof names)[number];

/** The page's files and commands as they stand, but for folders and ports. */
describe('docs/operate/production.md, from an empty folder', function () {
  this.timeout(120_000);
  const processes = new Processes();
  const ports = new Map<string, string>();
  let folder: string;
  let redis: ChildProcess;
  let proxy: RunningProxy;
  const running = new Map<Name, MusterProcess>();
  let access: { spaceId: string; apiKey: string; madeAt: string };
  /** The text with the ports of this run. */
  const here = (text: string): string =>
    [...ports].reduce((made, [port, own]) => made.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), own), text);
  const fileOf = (path: string): string => here(files.get(path) ?? '');
  const common = () => settingsOf(fileOf('/etc/muster/common.env'));
  const dataDir = (name: Name) => join(folder, name);
  const own = (name: Name) => settingsOf(fileOf(`/etc/muster/${name}.env`));

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-production-'));
    for (const port of ['6379', '8080', '8081', '9464', '9465', '9466', '9467'])
      ports.set(port, String(await freePort()));
    const acl = join(folder, 'users.acl');
    await writeFile(acl, fileOf('/etc/redis/users.acl'));
    const config = fileOf('/etc/redis/redis.conf').replace('/etc/redis/users.acl', acl);
    const file = join(folder, 'redis.conf');
    await mkdir(join(folder, 'redis'));
    await writeFile(file, `port ${ports.get('6379')}\nbind 127.0.0.1\ndir ${join(folder, 'redis')}\n${config}`);
    const { command, env } = await findRedisServer({ log: () => undefined });
    redis = spawn(command, [file], { env, stdio: 'ignore' });
    endAtExit(redis);
  });
  after(async () => {
    await proxy?.stop();
    await processes.clear();
    redis.kill('SIGKILL');
    await once(redis, 'exit');
    await rm(folder, { recursive: true });
  });

  /** As `systemctl start muster@<name>` does. */
  function start(name: Name): MusterProcess {
    const unit = textOf('docs/deploy/muster@.service').replaceAll('%i', name);
    const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? [];
    const [, environment = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
    expect(unit).to.include('EnvironmentFile=/etc/muster/common.env\n').and.include(`=/etc/muster/${name}.env\n`);
    expect(unit).to.include(`StateDirectory=muster/${name}\n`);
    const ofUnit = settingsOf(environment.replaceAll(' ', '\n'));
    expect(ofUnit).to.include({ DATA_DIR: `/var/lib/muster/${name}` });
    const settings = { ...ofUnit, ...common(), ...own(name), DATA_DIR: dataDir(name), SNAPSHOT_INTERVAL_SECONDS: '1' };
    const words = command
      .split(' ')
      .flatMap((word) => (word === 'muster' ? [process.execPath, join(root, 'dist/cli/bin.js')] : [word]));
    const started = processes.start(settings, [], words);
    running.set(name, started);
    return started;
  }
  const statusOf = (port: string | undefined) =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );

  it('has a Redis that takes the files of the page, and nobody but its user', async () => {
    const port = Number(ports.get('6379'));
    const { username, password } = new URL(common()['REDIS_URL'] ?? '');
    const known = new Redis({ port, username, password });
    known.on('error', () => undefined);
    await until(async () => (await known.info('persistence').catch(() => '')).includes('aof_enabled:1'));
    expect(await known.info('memory'))
      .to.include('maxmemory_policy:noeviction')
      .and.not.include('maxmemory:0\r');
    const stranger = new Redis({ port, lazyConnect: true, protocol: 2, retryStrategy: () => null });
    stranger.on('error', () => undefined);
    expect(String(await stranger.get('muster:orgs').catch((error: Error) => error))).to.match(/NOAUTH/);
    known.disconnect();
    stranger.disconnect();
  });

  it('has four processes that are ready, on the command and the environment of the unit', async () => {
    for (const name of names) start(name);
    for (const one of running.values()) await one.ready();
    const [line = ''] = commands.filter((command) => command.includes('9467/readyz'));
    const asked = [...here(line).matchAll(/127\.0\.0\.1:(\d+)\/readyz/g)].map(([, port]) => port);
    expect(await Promise.all(asked.map(statusOf))).to.deep.equal([200, 200, 200, 200]);
    for (const { stderr } of running.values()) expect(stderr).to.equal('');
  });

  it('has snapshots, with the rights of the page', async () => {
    const made = async () =>
      (
        await Promise.all(
          (['worker-1', 'worker-2'] as const).map((name) => listSnapshots(snapshotFolder(dataDir(name)))),
        )
      ).flat();
    await until(async () => (await made()).length > 0);
    for (const name of ['worker-1', 'worker-2'] as const) {
      const metrics = await (await fetch(`http://127.0.0.1:${own(name)['METRICS_PORT']}/metrics`)).text();
      expect(metrics).to.match(/^muster_snapshot_failing 0$/m);
    }
  });

  it('has an organization, a space with its limits, and a key', async () => {
    const [org = [], space = [], key = []] = ofMuster;
    const settings = { REDIS_URL: common()['REDIS_URL'] ?? '' };
    await record(org, settings);
    const { spaceId } = await record(space, settings);
    const { apiKey } = await record(key, settings);
    const [, raise = ''] =
      /`muster (space limits <spaceId> --org acme --req[^`]*)`/.exec(page.replaceAll('\n', ' ')) ?? [];
    const limits = await record(raise.replace('<spaceId>', spaceId).split(' '), settings);
    expect(limits).to.include({ requestsPerMinute: 3000, maxBacklog: 100_000 });
    access = { spaceId, apiKey, madeAt: new Date().toISOString() };
  });

  const ask = async () => {
    const headers = { Authorization: `Bearer ${access.apiKey}` };
    return (await fetch(`${proxy.url}/v1/spaces/${access.spaceId}/mailboxes`, { headers })).status;
  };

  it('has an nginx in front of both APIs', async () => {
    const config = here(textOf('docs/deploy/nginx.conf')).replace('listen 80;', 'listen 127.0.0.1:PORT;');
    proxy = await startNginx(config);
    for (let n = 0; n < 4; n++) expect(await ask()).to.equal(200);
  });

  it('has a Prometheus that scrapes all four', async () => {
    const config = files.get('/etc/prometheus/prometheus.yml') ?? '';
    const [{ job_name: job, static_configs: groups }] = parse(here(config)).scrape_configs;
    expect(job).to.equal('muster');
    expect(groups[0].targets).to.deep.equal(names.map((name) => `127.0.0.1:${own(name)['METRICS_PORT']}`));
    await writeFile(join(folder, 'prometheus.yml'), config);
    await cp(join(root, 'src/engine/metrics/alerts.yml'), join(folder, 'muster-alerts.yml'));
    const { command, env } = await findInstalled(promtool);
    const { stdout } = await run(command, ['check', 'config', join(folder, 'prometheus.yml')], { env });
    expect(stdout).to.include('1 rule files found').and.include('SUCCESS');
  });

  it('restarts one process after another without a failed call', async () => {
    const order = commands.flatMap((line) => /systemctl restart ((?:muster@\S+ ?)+)/.exec(line)?.[1]?.split(' ') ?? []);
    expect(order).to.deep.equal(names.map((name) => `muster@${name}`));
    const statuses = new Set<number>();
    let isDone = false;
    const calling = (async () => {
      // Calls without pauses would come to the space's limit, the sooner the slower the restarts.
      for (; !isDone; await setTimeout(50)) statuses.add(await ask());
    })();
    for (const name of names) {
      expect(await running.get(name)?.end('SIGTERM')).to.include({ status: 0 });
      const started = start(name);
      await until(
        async () => (await statusOf(name.startsWith('api') ? own(name)['PORT'] : own(name)['METRICS_PORT'])) === 200,
      );
      await started.ready();
    }
    isDone = true;
    await calling;
    expect([...statuses]).to.deep.equal([200]);
  });

  it('restores a snapshot into an empty store in another folder', async () => {
    let file = '';
    await until(async () => {
      for (const one of [dataDir('worker-1'), dataDir('worker-2')].map(snapshotFolder)) {
        const [newest] = await listSnapshots(one);
        if (newest !== undefined && newest.createdAt > access.madeAt) file = join(one, `${newest.snapshot}.rdb`);
      }
      return file !== '';
    });
    const DATA_DIR = join(folder, 'restored');
    expect(await record(['snapshot', 'restore', file], { DATA_DIR })).to.include({ organizations: 1 });
    const side = await processes.start({ DATA_DIR }).ready();
    expect((await muster(['org', 'list'], { DATA_DIR })).stdout).to.include('acme');
    expect(await side.end('SIGTERM')).to.include({ status: 0 });
  });

  it('names only files that are in the package', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: root,
      maxBuffer: 2 ** 26,
    });
    const packed = (JSON.parse(stdout) as [{ files: { path: string }[] }])[0].files.map(({ path }) => path);
    const named = [...page.matchAll(/\b(?:docs|src)\/[\w./@-]+\.\w+/g)].map(([path]) => path);
    expect(named).to.include.members([
      'docs/deploy/muster@.service',
      'docs/deploy/nginx.conf',
      'src/engine/metrics/alerts.yml',
    ]);
    expect(packed).to.include.members(named);
    const linked = [...page.matchAll(/\]\((?!http)([^)#]+)\)/g)].map(([, path = '']) => path);
    for (const path of linked) expect(textOf(join('docs/operate', path))).to.not.equal('');
  });
});

describe('The shipped units of systemd', () => {
  const analyze = kindOf('systemd-analyze', 'usr/bin/systemd-analyze', '--version', /^systemd (\d+)/m, 'systemd');
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-units-'));
    await cp(join(root, 'docs/deploy/muster.service'), join(folder, 'muster.service'));
    await cp(join(root, 'docs/deploy/muster@.service'), join(folder, 'muster@api-1.service'));
  });
  after(() => rm(folder, { recursive: true }));

  for (const unit of ['muster.service', 'muster@api-1.service'])
    it(`are clean, and allow little: ${unit}`, async () => {
      const { command, env } = await findInstalled(analyze);
      const ask = (...words: string[]) => run(command, [...words, join(folder, unit)], { env });
      const { stdout, stderr } = await ask('verify');
      expect(stdout + stderr).to.equal('');
      const { stdout: said } = await ask('security', '--offline=true', '--threshold=40');
      expect(said).to.match(/Overall exposure level .*: [0-3]\.\d /);
    });
});
