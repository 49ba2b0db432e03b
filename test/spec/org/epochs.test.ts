import { expect } from 'chai';
import { createOrganization, createSpace } from '../../../src/primitives/org/admin.ts';
import { passNewest, renewEpochs } from '../../../src/primitives/org/epochs.ts';
import { emptyStore } from '../../redis/empty-store.ts';
import type { OwnStore } from '../../support/own-store.ts';

describe('After a loss of acknowledged writes', () => {
  let ownStore: OwnStore;
  before(async () => {
    ownStore = await emptyStore();
  });

  it('cursors stay valid, and journals continue past their newest entry, even one from the future', async () => {
    const admin = await ownStore.admin();
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
    // Its last entry may have been written just before.
    await store.xadd(present, '*', 'type', 'x');
    const next = async (journal: string) => Number((await store.xadd(journal, '*', 'type', 'x'))?.split('-')[0]);
    expect(await passNewest(admin)).to.equal(2);
    expect(await store.hget('muster:{future}', 'epoch')).to.equal(epoch);
    for (const journal of [key, present]) expect(await next(journal)).to.be.within(ahead + 60_000, ahead + 70_000);
    expect(await renewEpochs(admin)).to.equal(1);
    expect(await store.hget('muster:{future}', 'epoch'))
      .to.match(/^[0-9a-f]{16}$/)
      .and.not.equal(epoch);
    expect(await store.exists('muster:{never-made}')).to.equal(0);
    await store.del(key, present);
    await store.xadd(present, '*', 'type', 'x');
    await passNewest(admin);
    expect(await next(present), 'no clock in the future').to.be.below(ahead - 3_590_000);
  });

  it('entries added while the journals are read do not push a journal ahead', async () => {
    const admin = await ownStore.admin();
    const { store } = admin;
    await createOrganization(admin, { org: 'busy', plan: 'enterprise' });
    await createSpace(admin, { org: 'busy' });
    const journal = 'muster:{busy}:1:events';
    let isOver = false;
    const { store: writer } = await ownStore.admin();
    const writing = (async () => {
      while (!isOver) await writer.xadd(journal, 'MAXLEN', '1', '*', 'type', 'x');
    })();
    for (let round = 0; round < 20; round++) await passNewest(admin);
    isOver = true;
    await writing;
    const [[last] = ['']] = (await store.xrevrange(journal, '+', '-', 'COUNT', 1)) as [string, unknown][];
    expect(Number(last.split('-')[0])).to.be.at.most(Date.now());
  });
});
