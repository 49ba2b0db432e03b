import { expect } from 'chai';
import { createOrganization, createSpace } from '../../../src/org/admin.ts';
import { renewEpochs } from '../../../src/org/epochs.ts';
import { OwnStore } from '../../support/own-store.ts';

describe('After a loss of acknowledged writes', () => {
  let own: OwnStore;
  before(async () => {
    own = await OwnStore.start();
  });
  after(() => own.stop());

  it('every journal has a new epoch; one that a clock in the future wrote goes on well behind its newest entry', async () => {
    const admin = await own.admin();
    const { store } = admin;
    await createOrganization(admin, { org: 'future', plan: 'enterprise' });
    await createSpace(admin, { org: 'future', name: 'without a journal' });
    await createSpace(admin, { org: 'future' });
    const key = 'muster:{future}:2:events';
    const ahead = Date.now() + 3_600_000;
    await store.xadd(key, `${ahead}-0`, 'type', 'x');
    const epoch = await store.hget('muster:{future}', 'epoch');
    await createSpace(admin, { org: 'future' });
    const present = 'muster:{future}:3:events';
    await store.sadd('muster:orgs', 'never-made');
    // The last that was written may be from just before.
    await store.xadd(present, '*', 'type', 'x');
    expect(await renewEpochs(admin)).to.equal(1);
    expect(await store.hget('muster:{future}', 'epoch'))
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(epoch);
    expect(await store.exists('muster:{never-made}')).to.equal(0);
    expect(Number((await store.xadd(present, '*', 'type', 'x'))?.split('-')[0])).to.be.lessThan(ahead - 3_590_000);
    expect(Number((await store.xadd(key, '*', 'type', 'x'))?.split('-')[0])).to.be.greaterThan(ahead + 30_000);
  });
});
