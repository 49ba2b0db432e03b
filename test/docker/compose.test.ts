import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { Redis } from 'ioredis';
import { parse } from 'yaml';
import { readConfig } from '../../src/config.ts';
import { awaitStore } from '../../src/embedded/await-store.ts';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { Stores } from '../embedded/support.ts';
import { addressesOf, networksOf, readCompose, root, type Service } from './compose.ts';

const compose = readCompose();
const services = Object.entries(compose.services);
const named = (name: string): Service => {
  const service = compose.services[name];
  if (!service) throw new Error(`there is no service ${name}`);
  return service;
};
const isOurs = ([, { build }]: [string, Service]): boolean => build !== undefined;

/** The keys of Compose that this file uses: Compose refuses a file with unknown ones. */
const words: Readonly<Record<'file' | 'service' | 'healthcheck', string>> = {
  file: 'name services networks volumes configs',
  service:
    'image build user profiles environment entrypoint command ports volumes configs networks depends_on healthcheck init read_only restart cap_drop security_opt ulimits tmpfs stop_grace_period',
  healthcheck: 'test interval timeout retries start_period disable',
};

describe('docker-compose.yml', () => {
  it('uses only keys that Compose knows', () => {
    const known = (kind: keyof typeof words, found: object = {}) =>
      expect(words[kind].split(' ')).to.include.members(Object.keys(found).filter((name) => !name.startsWith('x-')));
    known('file', compose);
    for (const [, service] of services) {
      known('service', service);
      known('healthcheck', service.healthcheck);
    }
  });

  it('names only existing files, volumes, networks, configs and services', () => {
    for (const [name, { file }] of Object.entries(compose.configs)) {
      // Inline contents cannot be written into a read-only container.
      expect(existsSync(join(root, file ?? '-')), name).to.equal(true);
    }
    const used = { volumes: new Set<string>(), configs: new Set<string>() };
    for (const [name, service] of services) {
      if (service.build) expect(existsSync(join(root, service.build, 'Dockerfile')), name).to.equal(true);
      for (const volume of service.volumes ?? []) used.volumes.add(volume.split(':')[0] ?? '');
      for (const { source } of service.configs ?? []) used.configs.add(source);
      for (const network of networksOf(service)) expect(compose.networks, name).to.have.property(network);
      for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
        const { profiles = [], healthcheck, restart } = named(other) as Service & { restart: string };
        expect(
          profiles.every((profile) => service.profiles?.includes(profile)),
          `${name} on ${other}`,
        ).to.equal(true);
        if (condition === 'service_completed_successfully') expect(restart, other).to.equal('no');
        else if (!named(other).build) expect(healthcheck?.test, other).to.not.equal(undefined);
      }
    }
    expect([...used.volumes]).to.have.members(Object.keys(compose.volumes));
    expect([...used.configs]).to.have.members(Object.keys(compose.configs));
  });

  it('services run read-only, without capabilities, from exact tags, and publish ports on loopback', () => {
    const published: string[] = [];
    for (const [name, service] of services) {
      expect(service, name).to.include({ init: true, read_only: true });
      expect([service.cap_drop, service.security_opt], name).to.deep.equal([['ALL'], ['no-new-privileges:true']]);
      if (service.build) expect(service.image).to.equal('muster');
      else expect(service.image, name).to.match(/:v?\d+\.\d+\.\d+(-\w+)?$/);
      if (service.image.startsWith('redis:')) expect(service.user, name).to.match(/^[1-9]\d*:[1-9]\d*$/);
      for (const port of service.ports ?? []) {
        expect(port, name).to.match(/^127\.0\.0\.1:\d+:\d+$/);
        published.push(port.split(':')[1] ?? '');
      }
    }
    expect(new Set(published).size).to.equal(published.length);
  });

  it('gives Muster known settings, and stores that are defined', () => {
    for (const [name, { environment = {} }] of services.filter(isOurs)) {
      const config = readConfig(environment);
      const known = new Set(Object.keys(config).map((key) => key.replaceAll(/[A-Z]/g, '_$&').toUpperCase()));
      for (const setting of Object.keys(environment)) expect(known.has(setting), `${name} ${setting}`).to.equal(true);
      const hosts = [...(config.redisUrl ?? '').matchAll(/(?:\/\/|,)([^:,]+):6379/g)].map(([, host = '']) => host);
      expect(hosts, name).to.not.be.empty;
      for (const host of hosts) expect([...Object.keys(compose.services), ...addressesOf(compose)]).to.include(host);
    }
    const roles = (profile?: string) => services.filter(isOurs).filter(([, { profiles }]) => profiles?.[0] === profile);
    expect(roles().map(([name]) => name)).to.deep.equal(['app']);
    expect(roles('scale').map(([, { environment }]) => environment?.['ROLE'])).to.deep.equal(['api', 'api', 'worker']);
  });

  describe('its Redis', () => {
    const started: { end(signal: NodeJS.Signals): Promise<void> }[] = [];
    const stores = new Stores();
    afterEach(async () => {
      for (const server of started.splice(0)) await server.end('SIGKILL');
      await stores.clear();
    });

    /** Starts a Redis like its container does, with `data` for /data. */
    async function start(name: string, data: string) {
      const { command, env } = await findRedisServer({ log: () => undefined });
      const [shell = '', ...words] = [...(named(name).entrypoint ?? []), ...(named(name).command ?? [])];
      const socket = join(data, 'redis.sock');
      const here = words.map((word) => word.replaceAll('cd /data', `cd '${data}'`));
      const PATH = `${dirname(command)}:${env['PATH']}`;
      const socketArgs = ['--port', '0', '--unixsocket', socket];
      const server = spawn(shell, [...here, ...socketArgs], { env: { ...env, PATH }, stdio: 'ignore' });
      endAtExit(server);
      const closed = once(server, 'close');
      const end = async (signal: NodeJS.Signals): Promise<void> => {
        server.kill(signal);
        await closed;
      };
      started.push({ end });
      await awaitStore(socket, { log: () => undefined, signal: new AbortController().signal });
      return { end, redis: new Redis(socket, { retryStrategy: () => null }).on('error', () => undefined) };
    }

    it('Redis is append-only, synced every second, evicts nothing and keeps messages compact', async () => {
      const all = { appendonly: 'yes', appendfsync: 'everysec', 'maxmemory-policy': 'noeviction', save: '' };
      const compact = { 'hash-max-listpack-entries': '17', 'hash-max-listpack-value': '1024' };
      const cluster = (enabled: string, covered: string) =>
        ({ 'cluster-enabled': enabled, 'cluster-require-full-coverage': covered }) as const;
      const wanted = { redis: cluster('no', 'yes'), 'redis-1': cluster('yes', 'no') };
      for (const [name, mode] of Object.entries(wanted)) {
        const data = await stores.folder();
        const { redis } = await start(name, data);
        const settings = { ...all, ...compact, ...mode, dir: data };
        for (const [setting, value] of Object.entries(settings))
          expect(await redis.config('GET', setting), name).to.deep.equal([setting, value]);
      }
    });

    it('truncates an incomplete write after it was killed, before it starts', async () => {
      const data = await stores.folder();
      const log = join(data, 'appendonlydir', 'appendonly.aof.1.incr.aof');
      const first = await start('redis', data);
      await first.redis.eval("redis.call('SET','a',1) redis.call('SET','b',1)", 0);
      await first.end('SIGKILL');
      await truncate(log, (await stat(log)).size - 3);
      const second = await start('redis', data);
      await second.redis.eval("redis.call('SET','c',1) redis.call('SET','d',1)", 0);
      await second.end('SIGKILL');
      const { redis } = await start('redis', data);
      expect(await redis.mget('a', 'b', 'c', 'd')).to.deep.equal([null, null, '1', '1']);
    });
  });

  it('creates its cluster of all six addresses, three masters and three replicas', () => {
    const script = named('cluster-init').command?.join('\n') ?? '';
    const [, list = ''] = /--cluster create ([\s\S]*?)--cluster-replicas 1\b/.exec(script) ?? [];
    const addresses = [...list.matchAll(/([\d.]+):6379/g)].map(([, address]) => address);
    expect(addresses).to.deep.equal(addressesOf(compose)).and.have.length(6);
    expect(Object.keys(named('cluster-init').depends_on ?? {})).to.have.length(6);
  });

  it('balances over the processes that serve the API, with timeouts longer than any held request', () => {
    const text = readFileSync(join(root, compose.configs['haproxy']?.file ?? ''), 'utf8');
    // Those that are ready, and all that run, for when none is.
    const [servers = [], unready] = text
      .split(/^backend /m)
      .slice(1)
      .map((backend) => [...backend.matchAll(/^ +server (\S+) (\S+):(\d+)$/gm)])
      .map((lines) => lines.map(([, , host = '', port]) => ({ host, port })));
    expect(unready).to.deep.equal(servers);
    const api = services
      .filter(isOurs)
      .filter(([, service]) => service.environment?.['ROLE'] !== 'worker' && !service.profiles?.includes('cluster'));
    expect(servers).to.deep.equal(api.map(([host]) => ({ host, port: '8080' })));
    expect(Object.keys(named('balancer').depends_on ?? {})).to.deep.equal(servers.map(({ host }) => host));
    for (const side of ['client', 'server'])
      expect(Number(new RegExp(`timeout ${side} (\\d+)s`).exec(text)?.[1])).to.be.greaterThan(60);
  });

  it('scrapes every Muster process', () => {
    const [job] = parse(readFileSync(join(root, compose.configs['prometheus']?.file ?? ''), 'utf8')).scrape_configs;
    const [{ names, port }] = job.dns_sd_configs;
    expect(names).to.have.members(services.filter(isOurs).map(([name]) => name));
    expect(readFileSync(join(root, 'Dockerfile'), 'utf8')).to.include(`METRICS_PORT=${port} `);
    for (const name of names) expect(networksOf(named(name)), name).to.include('default');
  });

  it('has the services, profiles, ports and volumes that docs/operate/docker.md describes', () => {
    const section = readFileSync(join(root, 'docs/operate/docker.md'), 'utf8');
    const execs = [...section.matchAll(/docker compose exec (\S+) (\S+)(?: (dist\/\S+))?/g)];
    expect(execs.map(([, service]) => service)).to.include.members(['app', 'redis']);
    for (const [, service = '', program, path] of execs) {
      expect(named(service).profiles, service).to.equal(undefined);
      if (program === 'node') expect(existsSync(join(root, path ?? '-')), path).to.equal(true);
    }
    const rows = [...section.matchAll(/^\| `(\w+) up -d(?: --wait)?(?: ([\w-]+))?` \| (.*) \|$/gm)];
    expect(rows.map(([, profile]) => profile)).to.have.members([
      ...new Set(services.flatMap(([, { profiles = [] }]) => profiles)),
    ]);
    const portsOf = (all: readonly Service[]) =>
      all.flatMap(({ ports = [] }) => ports).map((port) => port.split(':')[1]);
    for (const [, profile = '', service, description = ''] of rows) {
      if (service) expect(named(service).profiles).to.deep.equal([profile]);
      const ofProfile = services.map(([, one]) => one).filter(({ profiles }) => profiles?.includes(profile));
      expect(description.match(/\b\d{4}\b/g), profile).to.have.members(portsOf(ofProfile));
    }
    expect(section).to.include(`on port ${portsOf([named('app')])}`);
    for (const [, volume] of section.matchAll(/`muster_(\w+)`/g))
      expect(compose.volumes).to.have.property(volume ?? '');
  });
});
