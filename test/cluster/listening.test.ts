import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { connect } from '../../src/redis/connection.ts';
import { Wake } from '../../src/redis/wake.ts';
import { TestCluster } from '../support/cluster.ts';
import { until } from '../support/processes.ts';
import { ownerOf, slotOf } from './slots.ts';

describe('Who listens to organizations of a shard that is dead', function () {
  this.timeout(60_000);

  it('looks for it a few times a second, and hears them when it is back', async () => {
    const cluster = await TestCluster.start(2);
    const [dead, living] = cluster.masters;
    const channels: string[] = [];
    for (let n = 0; channels.length < 20; n++)
      if ((await ownerOf(cluster, slotOf(`{org-${n}}`))) === dead) channels.push(`{org-${n}}`);
    const [store, subscriber] = [await connect(cluster.url), await connect(cluster.url, 'patient')];
    const wake = new Wake(subscriber);
    const heard = new Set<string>();
    const listen = (channel: string) => wake.listen(channel, () => heard.add(channel)).ready;
    const connections = async (): Promise<number> =>
      Number(/total_connections_received:(\d+)/.exec((await living?.admin.info('stats')) ?? '')?.[1]);

    await Promise.all(channels.slice(0, 10).map(listen));
    await dead?.kill();
    const all = Promise.all(channels.slice(10).map(listen));
    const before = await connections();
    await sleep(3_000);
    const each = ((await connections()) - before) / 3;
    console.log(`      ${each.toFixed(1)} connections a second to the other one`);
    expect(each).to.be.at.most(20);

    await dead?.up();
    await all;
    await until(async () => {
      heard.clear();
      await Promise.allSettled(channels.map((channel) => store.spublish(channel, '')));
      await sleep(50);
      return heard.size === channels.length;
    });
    for (const one of [store, subscriber]) one.disconnect();
    await cluster.stop();
  });
});
