import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { OwnStore } from '../support/own-store.ts';
import { until } from '../support/processes.ts';
import { World } from '../support/world.ts';

/** On the real clock, on a store of its own. */
describe('The queue of the workers may be lost at any time', () => {
  let store: OwnStore;
  let service: MusterService;
  const schedule = (): Promise<string | null> => service.store.zscore('{muster}:queue:sweep:repeat', 'sweep');

  before(async () => {
    store = await OwnStore.start();
    const log = pino({ level: 'silent' });
    service = await startService({ redisUrl: store.url, role: 'all', host: '127.0.0.1', port: 0, log });
  });
  after(async () => {
    await service.stop();
    await store.stop();
  });

  it('sweeps go on without it, and it is scheduled anew', async () => {
    const world = await World.create({ on: service });
    const { id: mailboxId } = await world.made('/mailboxes', { name: 'jobs' });
    expect(await schedule()).to.not.equal(null);
    const keys = await service.store.keys('{muster}:queue:*');
    await service.store.del(...keys);

    const deadline = Date.now() + 1_000;
    const body = { scopeId: randomUUID(), payload: 1, deadline: new Date(deadline).toISOString() };
    const { id } = await world.made(`/mailboxes/${mailboxId}/messages`, body);
    const record = `muster:{${world.org}}:${world.spaceId}:message:${id}`;
    await until(async () => (await service.store.hget(record, 'state')) === 'EXPIRED');
    expect(Date.now() - deadline).to.be.within(0, 1000);
    await until(async () => (await schedule()) !== null);
  });
});
