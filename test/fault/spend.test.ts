import { expectSpendIsTrue } from '../support/spend-chaos.ts';
import { Lab } from './lab.ts';
import { chanceOf, seedOf } from './seed.ts';

describe('Model calls of both clients, killed and told to end', function () {
  this.timeout(600_000);
  let lab: Lab;
  before(async () => {
    lab = await Lab.opened();
    await lab.admit(1);
  });
  after(() => lab.stop());

  it('book at least what the provider has billed, and at most the estimates of the unknown above it', async () => {
    const [tenant] = lab.tenants;
    const [url = ''] = lab.urls();
    if (!tenant) throw new Error('no tenant');
    const chance = chanceOf(seedOf('model calls'));
    const fleet = ['typescript', 'python', 'typescript', 'python'] as const;
    const access = { ...tenant, url };
    console.log(`      ${await expectSpendIsTrue({ access, chance, calls: 600, fleet, ends: 20 })}`);
  });
});
