import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import pino from 'pino';
import { readStoreState } from '../../src/engine/metrics/store-reading.ts';
import { addressOf, type Store, warnOfShards } from '../../src/engine/redis/cluster.ts';
import { connect } from '../../src/engine/redis/connection.ts';
import { Due, dueKey } from '../../src/engine/redis/due.ts';
import { Organizations, organizationsKey } from '../../src/engine/redis/organizations.ts';
import { Scripts } from '../../src/engine/redis/scripts.ts';
import { Wake } from '../../src/engine/redis/wake.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
import { type ClusterNode, TestCluster } from '../support/cluster.ts';
import { Pace } from '../support/pace.ts';
import { until } from '../support/processes.ts';
import { moveSlot, namesOn, ownerOf, slotOf } from './slots.ts';

describe('The parts of a process on a cluster', function () {
  this.timeout(60_000);
  let cluster: TestCluster;
  let store: Store;
  let scripts: Scripts;
  /** Who has the index of due organizations, and who has not. */
  let index: ClusterNode;
  let other: ClusterNode;

  before(async () => {
    cluster = await TestCluster.start(3);
    store = await connect(cluster.url);
    scripts = new Scripts(store, luaNames);
    index = await ownerOf(cluster, slotOf(dueKey));
    other = cluster.masters.find((master) => master !== index) ?? index;
  });
  after(async () => {
    store.disconnect();
    await cluster.stop();
  });

  const orgsOn = (master: ClusterNode, count: number) => namesOn(cluster, master, count);
  /** Every organization is served. */
  const whole = async (): Promise<void> => {
    const keys = (await Promise.all(cluster.masters.map((master) => orgsOn(master, 1)))).map(([org]) => `{${org}}`);
    await until(async () =>
      (await Promise.allSettled(keys.map((key) => store.exists(key)))).every(({ status }) => status === 'fulfilled'),
    );
  };
  const show = (org: string) => scripts.execute('org/show', org, {}).catch(({ code, message }) => code ?? message);

  it('say what a cluster leaves out, and that one shard would stop all, where any of them has that set', async () => {
    const lines: string[] = [];
    const log = pino({ base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line).msg) });
    await warnOfShards(store, log);
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/of 3 shards: Muster makes no snapshots of it/);
    await other.admin.config('SET', 'cluster-require-full-coverage', 'yes');
    await warnOfShards(store, log);
    await other.admin.config('SET', 'cluster-require-full-coverage', 'no');
    expect(lines).to.have.length(3);
    expect(lines[2]).to.contain('set it to no on every node');
  });

  it('load a library into every master that lives, and again into one that has lost it or is new', async () => {
    expect((await readStoreState(store)).masters).to.equal(3);
    await scripts.load();
    const orgs = (await Promise.all(cluster.masters.map((master) => orgsOn(master, 1)))).flat();
    const loaded = async (master: ClusterNode): Promise<string> =>
      JSON.stringify(((await master.admin.call('FUNCTION', 'STATS')) as unknown[]).at(-1));
    for (const master of cluster.masters)
      await until(async () => (await loaded(master)).includes('"libraries_count",1,'));
    for (const master of cluster.masters) {
      await master.admin.call('FUNCTION', 'FLUSH');
      expect(await Promise.all(orgs.map(show))).to.deep.equal(Array(3).fill('ORG_NOT_FOUND'));
    }
    const [here = ''] = await orgsOn(index, 1);
    await index.admin.call('FUNCTION', 'FLUSH');
    const pace = await Pace.begin();
    other.hang();
    expect(await show(here)).to.equal('ORG_NOT_FOUND');
    await pace.expectDone(1_000, 'one that hangs is not waited for');
    other.goOn();
    await whole();
  });

  it('hold a call back while its slot moves, for about a second; then it is refused before anything is written', async () => {
    const [org = ''] = await orgsOn(index, 1);
    const slot = slotOf(`{${org}}`);
    const [fromId, toId] = await Promise.all([index.id(), other.id()]);
    await other.cluster('SETSLOT', slot, 'IMPORTING', fromId);
    await index.cluster('SETSLOT', slot, 'MIGRATING', toId);
    // With the organization's record still here, and gone already.
    await store.hset(`muster:{${org}}`, 'plan', 'free');
    for (const gone of [false, true]) {
      if (gone) await store.del(`muster:{${org}}`);
      const pace = await Pace.begin();
      const begun = performance.now();
      expect(await show(org)).to.match(/^Too many Cluster redirections/);
      await pace.expectDone(2_000);
      expect(performance.now() - begun).to.be.at.least(500);
    }
    const held = show(org);
    await sleep(100);
    await other.cluster('SETSLOT', slot, 'NODE', toId);
    await index.cluster('SETSLOT', slot, 'NODE', toId);
    expect(await held).to.equal('ORG_NOT_FOUND');
  });

  it('find out by themselves that a slot has moved', async () => {
    const [org = ''] = await orgsOn(index, 1);
    await moveSlot(cluster, slotOf(`{${org}}`), other);
    await until(() => addressOf(store, `{${org}}`) === `127.0.0.1:${other.port}`);
  });

  it('look for what is due without a shard that hangs, and not through all organizations where the index answers', async () => {
    const due = new Due(store, scripts);
    await scripts.load();
    const [here = ''] = await orgsOn(index, 1);
    const [there = ''] = await orgsOn(other, 1);
    await store.sadd('muster:orgs', here);
    await store.zadd(dueKey, 0, here);
    const pace = await Pace.begin();
    other.hang();
    const refused = show(there);
    const slow: number[] = [];
    for (let n = 0; n < 10; n++) {
      const begun = performance.now();
      await due.takeDue().catch(() => undefined);
      slow.push(performance.now() - begun);
    }
    expect(await refused).to.equal('no connection');
    await pace.expectDone(4_000, 'its own calls');
    other.goOn();
    await whole();
    await pace.expect(Math.max(...slow), 400);
  });

  it('sweep all organizations while the shard with the index hangs and once after it, and else what is due', async () => {
    let swept: string[] = [];
    const ask = async ({ script }: { script: string }, org: string): Promise<object> => {
      await store.exists(`{${org}}`);
      // Background timers are swept beside these.
      if (script === 'timer/sweep') swept.push(org);
      return { now: 1, nextDue: null, more: false, changes: 0 };
    };
    const due = new Due(store, { ask } as unknown as Scripts);
    const living = (await orgsOn(other, 2)).sort();
    const [dead = ''] = await orgsOn(index, 1);
    for (const key of [organizationsKey, dueKey]) await store.del(key);
    await store.sadd(organizationsKey, ...living, dead);
    for (const org of [...living, dead]) await store.zadd(`muster:{${org}}:timers`, 0, 'a timer');
    await store.zadd(dueKey, 0, `!${living[0]}`);
    const pace = await Pace.begin();
    /** What one look sweeps, without taking as long as a shard that is silent may. */
    const look = async (): Promise<string[]> => {
      swept = [];
      const begun = performance.now();
      await due.takeDue();
      await pace.expect(performance.now() - begun, 2_000);
      // A sweep begun while the shard hung may end during the next look.
      return [...new Set(swept)].sort();
    };
    expect(await look()).to.deep.equal([living[0]]);
    await due.repair();
    index.hang();
    expect(await look()).to.deep.equal(living);
    index.goOn();
    await whole();
    expect(await look()).to.deep.equal([...living, dead].sort());
    expect(await look()).to.deep.equal([]);
  });

  it('know the organizations when the shard that names them hangs, and work for those of the others', async () => {
    const names = await ownerOf(cluster, slotOf(organizationsKey));
    const [here = ''] = await orgsOn(cluster.masters.find((master) => master !== names) ?? names, 1);
    const there = await orgsOn(names, 20);
    const organizations = new Organizations(store);
    await store.sadd(organizationsKey, here);
    const all = await organizations.all();
    expect(all).to.include(here);
    const pace = await Pace.begin();
    names.hang();
    expect(await organizations.all()).to.equal(all);
    const unknown = await new Organizations(store).all().catch(({ message }) => message);
    expect(unknown).to.equal('no reply within 500 ms');
    const done: string[] = [];
    const work = async (name: string): Promise<void> => {
      await store.exists(`{${name.split(' ')[0]}}`);
      done.push(name);
    };
    const spaces = [...there, here].map((org) => `${org} space`);
    await organizations.forEach(spaces, work, 500);
    expect(done).to.deep.equal([`${here} space`]);
    await pace.expectDone(2_000);
    names.goOn();
    await whole();
  });

  it('keep no call waiting until a node has loaded its data', async () => {
    const [there = ''] = await orgsOn(other, 1);
    await Promise.all(Array.from({ length: 200 }, (_, n) => store.set(`{${there}}:${n}`, 'x'.repeat(1000))));
    // Of a snapshot, it looks at its connections every so many bytes while it loads.
    await other.admin.bgrewriteaof();
    await until(async () => (await other.admin.info('persistence')).includes('aof_rewrite_in_progress:0'));
    await other.kill();
    const pace = await Pace.begin();
    let isLoading = true;
    const up = other.up({ 'key-load-delay': '10000', 'loading-process-events-interval-bytes': '1024' }).then(() => {
      isLoading = false;
    });
    let slowest = 0;
    while (isLoading) {
      const begun = performance.now();
      await show(there);
      slowest = Math.max(slowest, performance.now() - begun);
      await sleep(10);
    }
    await Promise.all([up, whole()]);
    await pace.expect(slowest, 1_000);
  });

  it('listen to a shard that is dead: they look for it a few times a second, and hear it when it is back', async () => {
    const channels = (await orgsOn(other, 20)).map((org) => `{${org}}`);
    const subscriber = await connect(cluster.url, 'patient');
    const wake = new Wake(subscriber, subscriber);
    const heard = new Set<string>();
    const listen = (channel: string) => wake.listen(channel, () => heard.add(channel)).ready;
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec(await index.admin.info('stats'))?.[1]);

    await Promise.all(channels.slice(0, 10).map(listen));
    await other.kill();
    const all = Promise.all(channels.slice(10).map(listen));
    const before = await connections();
    await sleep(3_000);
    const each = ((await connections()) - before) / 3;
    console.log(`      ${each.toFixed(1)} connections a second to the living one`);
    expect(each).to.be.at.most(20);

    await other.up();
    await all;
    await until(async () => {
      heard.clear();
      await Promise.allSettled(channels.map((channel) => store.spublish(channel, '')));
      await sleep(50);
      return heard.size === channels.length;
    });
    subscriber.disconnect();
  });
});
