import type { MusterService } from '../../src/service.ts';
import { chanceOf, seedOf } from '../fault/seed.ts';
import { expectSpendIsTrue } from '../support/spend-chaos.ts';
import { delivering } from '../support/webhooks.ts';
import { World } from '../support/world.ts';

// test/fault/spend.test.ts makes 600 calls and kills the processes meanwhile.
describe('model calls of both clients with a provider that fails in all ways', () => {
  let service: MusterService;
  before(async () => {
    service = await delivering();
  });
  after(() => service.stop());

  it('book what the provider has billed, and the estimate where nobody can know', async () => {
    const { url, spaceId, apiKey } = await World.create({ on: service });
    const chance = chanceOf(seedOf('model calls'));
    const fleet = ['typescript', 'python'] as const;
    console.log(
      `      ${await expectSpendIsTrue({ access: { url, spaceId, apiKey }, chance, calls: 30, fleet, ends: 0 })}`,
    );
  });
});
