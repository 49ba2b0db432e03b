import { randomUUID } from 'node:crypto';
import type { MusterService } from '../../src/service.ts';
import { until } from '../support/processes.ts';
import { delivering } from '../support/webhooks.ts';
import { api, World } from '../support/world.ts';

const day = 86_400_000;

describe('Retention', () => {
  let worker: MusterService | undefined;
  after(() => worker?.stop());

  it('removes what has expired in every organization as soon as a worker runs', async () => {
    const { store } = await api();
    const worlds = await Promise.all([1, 2].map(() => World.create({ plan: 'free' })));
    for (const world of worlds) {
      const { id } = await world.mustPost('/mailboxes', { name: 'jobs' });
      const scopeId = randomUUID();
      await world.mustPost(`/mailboxes/${id}/messages`, { scopeId, payload: 1 });
      const claim = await world.mustPost(`/mailboxes/${id}/recv`, { scopeId, holder: 'h', holderSession: 's' });
      await world.mustPost(`/messages/${claim.id}/complete`, { token: claim.token });
      await world.at(Date.now() + 8 * day);
    }
    // A name without an organization must not delay others.
    await store.sadd('muster:orgs', 'never-made');
    worker = await delivering({ role: 'worker' });
    const kept = async ({ org, spaceId }: World): Promise<number> =>
      Number(await store.hget(`muster:{${org}}:${spaceId}`, 'messages:ACKED'));
    for (const world of worlds) await until(async () => (await kept(world)) === 0);
    await store.srem('muster:orgs', 'never-made');
  });
});
