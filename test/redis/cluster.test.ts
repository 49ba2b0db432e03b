import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { Cluster } from 'ioredis';
import { allKeys } from '../../src/primitives.ts';
import { addressesOf } from '../../src/redis/address.ts';
import { awaitStore } from '../../src/redis/await-store.ts';
import { connect } from '../../src/redis/connection.ts';
import { Scripts, StoreUnavailable } from '../../src/redis/scripts.ts';
import { failure, record } from '../support/cli.ts';
import { TestCluster } from '../support/cluster.ts';

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

  it('several nodes are named with commas; the first one says how the others are reached', () => {
    expect(addressesOf('redis://a:1')).to.deep.equal(['redis://a:1']);
    expect(addressesOf('unix:///run/redis.sock')).to.deep.equal(['/run/redis.sock']);
    expect(addressesOf('rediss://user:word@a:1, b:2,redis://c:3')).to.deep.equal([
      'rediss://user:word@a:1',
      'rediss://user:word@b:2',
      'redis://c:3',
    ]);
  });

  it('is found out by itself, by way of any node that answers', async () => {
    const url = `${dead},${cluster.url}`;
    await awaitStore(url, { log: () => undefined, signal: new AbortController().signal, patienceMs: 1000 });
    const store = await connect(url);
    expect(store).to.be.instanceOf(Cluster);
    store.disconnect();
  });

  it('a node that takes connections and is silent is passed over, also by those who are patient', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `redis://127.0.0.1:${(silent.address() as AddressInfo).port},${cluster.url}`;
    for (const store of await Promise.all([connect(url), connect(url, 'patient')])) {
      expect(store).to.be.instanceOf(Cluster);
      store.disconnect();
    }
    silent.close();
  });

  it('a process ends with its connection, also while that is being told where the slots are', async () => {
    const script = `
      const store = await (await import('./src/redis/connection.ts')).connect('${cluster.url}');
      const alive = setInterval(() => undefined, 1000);
      const refresh = store.refreshSlotsCache;
      store.refreshSlotsCache = (...args) => {
        store.refreshSlotsCache = refresh;
        store.refreshSlotsCache(...args);
        store.disconnect();
        clearInterval(alive);
      };`;
    const words = ['--import', 'tsx', '--input-type=module', '--eval', script];
    await promisify(execFile)(process.execPath, words, { timeout: 10_000 });
  });

  it('calls fail at once where nobody answers any more, and go through when somebody does', async () => {
    const store = await connect(cluster.url);
    const scripts = new Scripts(store, allKeys);
    const show = () => scripts.run('org/show', 'nobody', {}).catch((error) => error);
    expect(await show()).to.have.property('code', 'ORG_NOT_FOUND');
    await cluster.masters[0]?.kill();
    const begun = performance.now();
    expect(await show()).to.be.instanceOf(StoreUnavailable);
    expect(performance.now() - begun).to.be.at.most(1000);
    await cluster.masters[0]?.up();
    while ((await show()).code !== 'ORG_NOT_FOUND') await new Promise((resolve) => setImmediate(resolve));
    store.disconnect();
  });

  it('the command line works on it, and says that there are no snapshots', async () => {
    const settings = { REDIS_URL: `${dead},127.0.0.1:${cluster.masters[0]?.port}`, DATA_DIR };
    await record(['org', 'create', 'acme', '--plan', 'team'], settings);
    const { organizations } = await record(['org', 'list'], settings);
    expect(organizations.map(({ org }: { org: string }) => org)).to.deep.equal(['acme']);
    const refusal = await failure(['snapshot', 'create'], settings);
    expect(refusal.code).to.equal('SNAPSHOTS_UNAVAILABLE');
    expect(refusal.message).to.contain('each node of a cluster');
  });
});
