import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day } from '../retention/support.ts';
import { Queue } from './queue.ts';

describe('Messages with a key that have ended', () => {
  for (const packs of [undefined, 1])
    it(`are found by it, come back in their turn, and leave nothing when they go (${packs ? 'packed' : 'as records'})`, async () => {
      const aging = await Aging.begin({ plan: 'free' }, packs);
      const queue = await Queue.create({ perKey: 1 }, aging.world);
      const ids: string[] = [];
      for (let n = 0; n < 3; n++) ids.push(await queue.sent({ key: 'a:b {c}' }));
      for (let n = 0; n < 3; n++)
        await queue.act(n === 1 ? 'nack' : 'complete', await queue.claim(), n === 1 ? { retry: false } : {});
      await aging.sweepAt(day - 1);
      const found = async () =>
        (await queue.list(`?key=${encodeURIComponent('a:b {c}')}`)).body.messages.map(({ id }: { id: string }) => id);
      expect(await found()).to.deep.equal(ids);
      const holder = await queue.sent({ key: 'a:b {c}' });
      const requeued = await aging.world.mustPost(`/messages/${ids[1]}/requeue`);
      expect(requeued).to.deep.include({ state: 'BLOCKED', blockedBy: [{ kind: 'KEY', id: holder }] });
      await expectAgreement(aging.world);
      for (const id of [holder, ids[1]]) {
        const claim = await queue.claim();
        expect(claim.id).to.equal(id);
        await queue.act('complete', claim);
      }
      for (let days = 2; days < 12 && (await found()).length > 0; days++) await aging.sweepAt(days * day);
      expect(await found()).to.deep.equal([]);
      const left = await aging.world.service.store.keys(`${aging.world.prefix}:mailbox:${queue.id}:*ey*`);
      expect(left).to.deep.equal([]);
      await expectAgreement(aging.world);
    });
});
