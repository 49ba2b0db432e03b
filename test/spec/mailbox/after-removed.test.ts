import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { codeOf } from '../../support/world.ts';
import { Aging, day } from '../retention/support.ts';
import { Queue } from './queue.ts';

const messages = (...ids: string[]) => ids.map((messageId) => ({ messageId }));

describe('A prerequisite that is packed or removed', () => {
  for (const packs of [undefined, 1])
    it(`still says how it ended, and cancels what waits for it when it goes (${packs ? 'packed' : 'as a record'})`, async () => {
      const aging = await Aging.begin({ plan: 'free' }, packs);
      const queue = await Queue.create({}, aging.world);
      const [good, bad] = [await queue.sent(), await queue.sent()];
      const waits = await queue.sent({ after: messages(bad), onFailure: 'WAIT' });
      await queue.act('complete', await queue.claim());
      await queue.act('nack', await queue.claim(), { retry: false });
      await aging.sweepAt(day - 1);
      const view = async (id: string) => (await queue.world.get(`/messages/${id}`)).body;
      expect((await view(waits)).after).to.deep.equal([
        { messageId: bad, groupId: null, scopeId: null, state: 'REJECTED' },
      ]);
      const late = await queue.sent({ after: messages(good) });
      expect(await view(late)).to.deep.include({
        state: 'READY',
        after: [{ messageId: good, groupId: null, scopeId: null, state: 'ACKED' }],
      });
      expect(codeOf(await queue.send({ after: messages(bad) }))).to.equal('409 PREREQUISITE_FAILED');
      const also = await queue.sent({ after: messages(bad), onFailure: 'WAIT' });
      for (let days = 2; days < 12 && (await view(waits)).state === 'BLOCKED'; days++) await aging.sweepAt(days * day);
      expect((await queue.world.get(`/messages/${bad}`)).status).to.equal(404);
      for (const id of [waits, also])
        expect(await view(id)).to.deep.include({ state: 'CANCELLED', reason: 'PREREQUISITE_FAILED' });
      await expectAgreement(aging.world);
    });
});
