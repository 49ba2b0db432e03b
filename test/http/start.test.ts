import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import pino from 'pino';
import { startService } from '../../src/service.ts';
import { breakingProxy } from '../support/breaking-proxy.ts';
import { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';

describe('A store that breaks a connection during a start', function () {
  this.timeout(60_000);
  let store: OwnStore;
  before(async () => {
    store = await OwnStore.start();
  });
  after(() => store.stop());

  it('is waited for, whichever connection it is', async () => {
    const log = pino({ level: 'silent' });
    const { store: redis } = await store.admin();
    const idleWorkers = async () => String(await redis.call('CLIENT', 'LIST')).match(/ cmd=bzpopmin /g)?.length;
    const awaited: number[] = [];
    for (let which = 1, made = 1; which <= made; which++) {
      const redisUrl = join(store.dataDir, `breaks-${which}`);
      const { server, count } = await breakingProxy(store.url, redisUrl, (connection) => connection !== which);
      const awaitStore = async () => void awaited.push(which);
      const service = await startService({ redisUrl, role: 'all', host: '127.0.0.1', port: 0, log, awaitStore });
      made = count();
      const ready = await fetch(`${service.url}/readyz`);
      await until(async () => (await idleWorkers()) === 2);
      await service.stop();
      server.close();
      expect(ready.status, `connection ${which} of ${made}`).to.equal(200);
    }
    // For calls, for the subscription, and for the jobs; the queue reconnects its other ones itself.
    expect(awaited).to.have.length(3);
  });

  it('is waited for if it stops answering, with a message', async () => {
    const redisUrl = join(store.dataDir, 'silent');
    let made = 0;
    const server = createServer((near) => {
      // The second connection is the first one that waits for answers.
      if (++made !== 2) near.pipe(connect(store.url)).pipe(near);
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

  it('fails the start if it keeps breaking connections', async () => {
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
