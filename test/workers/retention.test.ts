import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { type MusterService, startService } from '../../src/service.ts';
import { OwnStore } from '../support/own-store.ts';
import { Pace } from '../support/pace.ts';
import { until } from '../support/processes.ts';
import { overrides, World } from '../support/world.ts';

const day = 86_400_000;

/** On a separate store; the tests set the organizations' clocks. */
describe('Retention', () => {
  let store: OwnStore;
  const services: MusterService[] = [];
  const start = async (role: 'api' | 'worker'): Promise<MusterService> => {
    const service = await startService({
      redisUrl: store.url,
      role,
      host: '127.0.0.1',
      port: 0,
      log: pino({ level: 'silent' }),
      overrides,
    });
    services.push(service);
    return service;
  };

  before(async () => {
    store = await OwnStore.start();
  });
  after(async () => {
    for (const service of services) await service.stop();
    await store.stop();
  });

  it('removes what has expired in every organization as soon as a worker runs', async () => {
    const on = await start('api');
    const worlds = await Promise.all([1, 2].map(() => World.create({ on, plan: 'free' })));
    for (const world of worlds) {
      const { id } = await world.made('/mailboxes', { name: 'jobs' });
      const scopeId = randomUUID();
      await world.made(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
      const claim = await world.made(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });
      await world.made(`/messages/${claim.id}/complete`, { token: claim.token });
      await world.at(Date.now() + 8 * day);
    }
    // A name without an organization must not delay others.
    await on.store.sadd('muster:orgs', 'never-made');
    await start('worker');
    const pace = await Pace.begin();
    const kept = async ({ org, spaceId }: World): Promise<number> =>
      Number(await on.store.hget(`muster:{${org}}:${spaceId}`, 'messages:ACKED'));
    for (const world of worlds) await until(async () => (await kept(world)) === 0);
    await pace.expectDone(10_000);
  });
});
