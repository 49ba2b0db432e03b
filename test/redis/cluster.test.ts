import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Cluster } from 'ioredis';
import pino from 'pino';
import { awaitStore } from '../../src/embedded/await-store.ts';
import { addressesOf } from '../../src/engine/redis/address.ts';
import { warnOfShards } from '../../src/engine/redis/cluster.ts';
import { connect } from '../../src/engine/redis/connection.ts';
import { Scripts, StoreUnavailable } from '../../src/engine/redis/scripts.ts';
import { type Listening, Wake } from '../../src/engine/redis/wake.ts';
import { Deliverer } from '../../src/jobs/workers/deliverer.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
import { Targets } from '../../src/primitives/webhook/target.ts';
import { startService } from '../../src/service.ts';
import { asModule } from '../embedded/support.ts';
import { bundled } from '../support/bundle.ts';
import { failure, record } from '../support/cli.ts';
import { TestCluster } from '../support/cluster.ts';
import { until } from '../support/processes.ts';
import { Sink } from '../support/sink.ts';
import { World } from '../support/world.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Nobody listens there. */
const dead = 'redis://127.0.0.1:1';

describe('A store that is a cluster', () => {
  let cluster: TestCluster;
  let DATA_DIR: string;
  before(async () => {
    cluster = await TestCluster.start(1);
    DATA_DIR = await mkdtemp(join(tmpdir(), 'muster-cluster-cli-'));
  });
  after(async () => {
    await cluster.stop();
    await rm(DATA_DIR, { recursive: true, force: true });
  });

  it('is found by a process that is busy for longer than the timeout of a node', async () => {
    // Between the request for the slots and its reply, which is in the fifth or sixth turn; all turns take less than the
    // 5 s that a start waits for a reply.
    const still = new Int32Array(new SharedArrayBuffer(4));
    let left = 6;
    const busy = setInterval(() => left-- > 0 && Atomics.wait(still, 0, 0, left < 2 ? 1100 : 300), 1);
    try {
      (await connect(cluster.url)).disconnect();
    } finally {
      clearInterval(busy);
    }
  });

  it('nodes are separated by commas, and inherit scheme and login from the first', () => {
    expect(addressesOf('redis://a:1')).to.deep.equal(['redis://a:1']);
    expect(addressesOf('unix:///run/redis.sock')).to.deep.equal(['/run/redis.sock']);
    expect(addressesOf('rediss://user:word@a:1, b:2,redis://c:3')).to.deep.equal([
      'rediss://user:word@a:1',
      'rediss://user:word@b:2',
      'redis://c:3',
    ]);
  });

  it('is discovered through any node that answers', async () => {
    const loading = createServer((socket) => {
      socket.on('data', () => socket.write('-LOADING Redis is loading the dataset in memory\r\n'));
    }).listen(0, '127.0.0.1');
    await once(loading, 'listening');
    const url = `${dead},${cluster.url}`;
    const patience = { log: () => undefined, signal: new AbortController().signal, patienceMs: 1000 };
    await awaitStore(`redis://127.0.0.1:${(loading.address() as AddressInfo).port},${url}`, patience);
    for (const store of [await connect(url), await connect(url, 'patient')]) {
      expect(store).to.be.instanceOf(Cluster);
      // As for a connection to one server: a machine that has gone does not answer.
      for (const node of (store as Cluster).nodes()) expect(node.options.keepAlive).to.equal(5_000);
      store.disconnect();
    }
    loading.close();
  });

  it('is used with the login in its address', async () => {
    const [node] = cluster.masters;
    await node?.admin.call('ACL', 'SETUSER', 'somebody', 'on', '>word', '~*', '+@all', '-config');
    await node?.admin.config('SET', 'requirepass', 'other');
    const host = cluster.url.replace('redis://', '');
    for (const login of ['somebody:word', ':other']) {
      const store = await connect(`redis://${login}@${host}`);
      expect(await store.exists('{nobody}')).to.equal(0);
      // For users who may not read settings.
      await warnOfShards(store, pino({ level: 'silent' }));
      store.disconnect();
    }
    await node?.admin.config('SET', 'requirepass', '');
  });

  it('is refused with the error of the first node, and if nodes do not know their addresses', async () => {
    const [node] = cluster.masters;
    const refused = (url: string) => connect(url).catch(({ message }) => message);
    expect(await refused(`${dead},redis://127.0.0.1:2`)).to.contain('127.0.0.1:1');
    // Valkey 8.1 keeps its answer to CLUSTER SLOTS until a port changes.
    const announce = (ip: string, port: number) =>
      node?.admin.config('SET', 'cluster-announce-ip', ip, 'cluster-announce-port', port);
    await announce('', node?.port ?? 0);
    expect(await refused(cluster.url)).to.contain('set its cluster-announce-ip');
    await announce('127.0.0.1', 0);
  });

  it('skips a node that accepts connections but does not answer, for both kinds of clients', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `redis://127.0.0.1:${(silent.address() as AddressInfo).port},${cluster.url}`;
    for (const store of await Promise.all([connect(url), connect(url, 'patient')])) {
      expect(store).to.be.instanceOf(Cluster);
      store.disconnect();
    }
    silent.close();
  });

  it('falls back to another node if the first to answer has gone, and fails without one', async () => {
    /** Answers as the only node of a cluster, and disappears. */
    const info = 'cluster_enabled:1\r\nloading:0';
    const brief = async (): Promise<string> => {
      const server = createServer((socket) => {
        socket.on('data', (text) => {
          for (const [, name] of String(text).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)/g)) {
            if (name === 'info') socket.write(`$${info.length}\r\n${info}\r\n`);
            else socket.write(name === 'cluster' ? '*0\r\n' : '+OK\r\n');
            if (name === 'cluster') server.close();
          }
        });
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const store = await connect(`${await brief()},${cluster.url}`);
    expect(await store.exists('{nobody}')).to.equal(0);
    store.disconnect();
    expect(await connect(await brief()).catch(({ name }) => name)).to.equal('ClusterAllFailedError');
  });

  it('a process ends when its client is closed, even during a refresh of the slots', async () => {
    const program = `
      import { connect } from './src/engine/redis/connection.ts';
      const store = await connect(process.argv[2]);
      const alive = setInterval(() => undefined, 1000);
      const refresh = store.refreshSlotsCache;
      store.refreshSlotsCache = (...args) => {
        store.refreshSlotsCache = refresh;
        store.refreshSlotsCache(...args);
        store.disconnect();
        clearInterval(alive);
      };`;
    const text = await bundled(program, root, asModule);
    const words = ['--input-type=module', '-', cluster.url];
    const run = promisify(execFile)(process.execPath, words, { cwd: root, timeout: 50_000 });
    run.child.stdin?.end(text);
    await run;
  });

  it('a call whose connection breaks may have run, and is not repeated', async () => {
    const [node] = cluster.masters;
    const store = await connect(cluster.url);
    await store.exists('{once}');
    await node?.admin.call('CLIENT', 'PAUSE', '60000', 'WRITE');
    const call = store.incr('{once}').catch(({ message }) => message);
    await until(async () => /blocked_clients:1/.test((await node?.admin.info('clients')) ?? ''));
    await node?.admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await node?.admin.call('CLIENT', 'UNPAUSE');
    expect(await call).to.equal('Connection is closed.');
    await until(async () => (await store.get('{once}').catch(() => '')) === null);
    store.disconnect();
  });

  it('calls fail at once while no node answers, and succeed again later', async () => {
    const [node] = cluster.masters;
    const store = await connect(cluster.url);
    const scripts = new Scripts(store, luaNames);
    const show = () => scripts.execute('org/show', 'nobody', {}).catch((error) => error);
    expect(await show()).to.have.property('code', 'ORG_NOT_FOUND');
    await node?.kill();
    expect(await show()).to.be.instanceOf(StoreUnavailable);
    const unloaded = await scripts.load().catch((error) => error);
    expect(unloaded).to.be.instanceOf(StoreUnavailable).with.property('message', 'no connection');
    await until(() => store.status === 'reconnecting');
    expect(await show())
      .to.be.instanceOf(StoreUnavailable)
      .with.property('message', 'no connection');
    await node?.up();
    await until(async () => (await show()).code === 'ORG_NOT_FOUND');
    store.disconnect();
  });

  it('a slot without a node does not affect subscriptions to others', async () => {
    const [node] = cluster.masters;
    const strictly = (word: string) => node?.admin.config('SET', 'cluster-require-full-coverage', word);
    const inState = (state: string) =>
      until(async () => String(await node?.cluster('INFO')).includes(`cluster_state:${state}`));
    await strictly('yes');
    await node?.cluster('DELSLOTS', 5);
    await inState('fail');
    const refused = await connect(cluster.url);
    expect(await refused.exists('{nobody}').catch(({ message }) => message)).to.match(/^CLUSTERDOWN/);
    refused.disconnect();
    await strictly('no');
    await inState('ok');
    const [store, subscriber] = [await connect(cluster.url), await connect(cluster.url, 'patient')];
    const wake = new Wake(subscriber, store);
    let listening: Listening | undefined;
    const heard = new Promise<void>((resolve) => {
      listening = wake.listen('{nobody}', () => resolve());
    });
    await listening?.ready;
    await store.spublish('{nobody}', '');
    await heard;
    listening?.stop();
    await node?.cluster('ADDSLOTS', 5);
    const errors: unknown[] = [];
    const refreshed = () =>
      new Promise<void>((resolve) => {
        (subscriber as Cluster).refreshSlotsCache((error) => resolve(void errors.push(error?.name)));
      });
    await Promise.all([refreshed(), refreshed()]);
    for (const one of [store, subscriber]) one.disconnect();
    await refreshed();
    expect(errors, 'each is told once').to.deep.equal([undefined, undefined, 'ClusterAllFailedError']);
  });

  it('the command line works on it, and reports that it has no snapshots', async () => {
    const settings = { REDIS_URL: `${dead},127.0.0.1:${cluster.masters[0]?.port}`, DATA_DIR };
    await record(['org', 'create', 'acme', '--plan', 'team'], settings);
    const { organizations } = await record(['org', 'list'], settings);
    expect(organizations.map(({ org }: { org: string }) => org)).to.deep.equal(['acme']);
    const refusal = await failure(['snapshot', 'create'], settings);
    expect(refusal.code).to.equal('SNAPSHOTS_UNAVAILABLE');
    expect(refusal.message).to.contain('each node of a cluster');
  });

  it('webhooks continue if the workers’ queue accepts jobs and hangs; none is sent twice', async () => {
    const log = pino({ level: 'silent' });
    const options = { role: 'api', host: '127.0.0.1', port: 0, log, webhookAllowPrivate: true } as const;
    const service = await startService({ redisUrl: cluster.url, ...options });
    const connection = (await connect(cluster.url, 'patient')) as Cluster;
    const deliverer = new Deliverer(connection, { ...service, targets: new Targets(true), log });
    const sink = await Sink.start();
    const world = await World.create({ on: service });
    const { id } = await world.mustPost('/destinations', { url: sink.url, eventTypes: ['mailbox.created'] });
    await world.mustPost('/mailboxes', { name: 'a' });
    await sink.got(1);
    const streams = connection.nodes().map((node) => node.stream);
    for (const stream of streams) stream.pause();
    sink.answer = (response) => void setTimeout(() => response.end(), 300);
    await world.mustPost('/mailboxes', { name: 'b' });
    await sink.got(2);
    for (const stream of streams) stream.resume();
    await deliverer.stop();
    expect(sink.received).to.have.length(2);
    const unfinished = `${world.prefix}:destination:${id}:unfinished`;
    expect(await service.store.zcard(unfinished), 'nothing is cut short').to.equal(0);
    await sink.stop();
    connection.disconnect();
    await service.stop();
  });
});
