import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { startService } from '../../src/service.ts';
import { breakingProxy } from '../support/breaking-proxy.ts';
import { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';

describe('A start during which the store breaks a connection', () => {
  let store: OwnStore;
  before(async () => {
    store = await OwnStore.start();
  });
  after(() => store.stop());

  it('waits for the store again, whichever connection it breaks', async () => {
    const log = pino({ level: 'silent' });
    const { store: redis } = await store.admin();
    const idleWorkers = async () => String(await redis.call('CLIENT', 'LIST')).match(/ cmd=bzpopmin /g)?.length;
    const awaited: number[] = [];
    for (let which = 1, connections = 1; which <= connections; which++) {
      const redisUrl = join(store.dataDir, `breaks-${which}`);
      const { server, count } = await breakingProxy(store.url, redisUrl, (connection) => connection !== which);
      const awaitStore = async () => void awaited.push(which);
      const service = await startService({ redisUrl, role: 'all', host: '127.0.0.1', port: 0, log, awaitStore });
      connections = count();
      const ready = await fetch(`${service.url}/readyz`);
      await until(async () => (await idleWorkers()) === 2);
      await service.stop();
      server.close();
      expect(ready.status, `connection ${which} of ${connections}`).to.equal(200);
    }
    // One each for calls, the subscription and the jobs; the queue reconnects its others by itself.
    expect(awaited).to.have.length(3);
  });

  it('waits for the store again if it stops answering', async () => {
    const redisUrl = join(store.dataDir, 'silent');
    let connections = 0;
    const server = createServer((near) => {
      // The second connection is the first one that needs answers.
      if (++connections !== 2) near.pipe(connect(store.url)).pipe(near);
      near.on('error', () => undefined);
    });
    await once(server.listen(redisUrl), 'listening');
    let awaited = 0;
    const awaitStore = async () => void awaited++;
    const log = pino({ level: 'silent' });
    const service = await startService({ redisUrl, role: 'api', host: '127.0.0.1', port: 0, log, awaitStore });
    await service.stop();
    server.close();
    expect(awaited).to.equal(1);
  });

  it('fails if the store keeps breaking connections', async () => {
    const redisUrl = join(store.dataDir, 'breaks-each');
    const server = createServer((near) => near.on('error', () => undefined).once('data', () => near.destroy()));
    await once(server.listen(redisUrl), 'listening');
    const log = pino({ level: 'silent' });
    let awaited = 0;
    const awaitStore = async () => void awaited++;
    const start = startService({ redisUrl, role: 'all', host: '127.0.0.1', port: 0, log, awaitStore });
    const failure = await start.catch((error: unknown) => error);
    server.close();
    expect(failure).to.be.an('error');
    expect(awaited).to.equal(2);
  });
});
