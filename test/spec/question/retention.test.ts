import { expect } from 'chai';
import { visit } from '../../answer/answers.ts';
import { expectAgreement } from '../../support/agree.ts';
import { Aging, day } from '../retention/support.ts';
import { Asking } from './questions.ts';

/** In segments of one, which go as early as it does. */
for (const packs of [undefined, 1])
  describe(`retention of questions${packs ? ' whose messages are packed' : ''}`, () => {
    it('keeps those of a message as long as the message, its links too', async () => {
      const aging = await Aging.begin(undefined, packs);
      const { world } = aging;
      const work = await Asking.create(world);
      const first = await work.asked();
      await work.answer(first.question.id, { long: 'x'.repeat(1000) });
      const second = (await work.ask(await work.recv(), { question: 'Really?' })).body;
      await work.answer(second.question.id);
      await aging.at(1000);
      const claim = await work.recv();
      await world.mustPost(`/messages/${claim.id}/complete`, { token: claim.token });

      await aging.sweepAt(7 * day + 999);
      expect((await work.message(claim.id)).question).to.include({ id: second.question.id, answer: 'yes' });
      expect((await visit(first.question.answerUrl)).status).to.equal(410);
      await expectAgreement(world);

      await aging.sweepAt(7 * day + 1000);
      for (const { question } of [first, second]) {
        expect((await world.get(`/questions/${question.id}`)).status).to.equal(404);
        expect((await visit(question.answerUrl)).status).to.equal(404);
      }
      expect((await aging.body('/questions')).questions).to.deep.equal([]);
      expect((await aging.body('/census')).questions.ANSWERED).to.equal(0);
      expect((await aging.body('/usage')).days.at(-1).retainedBytes).to.equal(0);
      expect(await world.service.store.hlen(`muster:{${world.org}}:links`)).to.equal(0);
      await expectAgreement(world);
      // The tombstone of the task keeps the run.
      await aging.sweepAt(38 * day);
      expect((await world.get(`/ops/runs/${work.scopeId}`)).status).to.equal(404);
      await expectAgreement(world);
    });

    it('keeps one by itself for max(window, 30 d) after its end, and its run with it; an OPEN one never goes', async () => {
      const aging = await Aging.begin(undefined, packs);
      const { world } = aging;
      const work = await Asking.create(world);
      const ask = (scopeId: string) =>
        world.mustPost('/questions', { scopeId, question: 1, expiresInSeconds: 2_592_000 });
      const [answered, open] = [await ask(work.scopeId), await ask(world.spaceId)];
      await aging.at(1000);
      await work.answer(answered.id);
      await aging.sweepAt(30 * day - 1);
      expect((await work.question(open.id)).state).to.equal('OPEN');
      await aging.sweepAt(30 * day + 999);
      expect((await work.question(open.id)).state).to.equal('EXPIRED');
      expect((await work.question(answered.id)).state).to.equal('ANSWERED');
      await aging.sweepAt(30 * day + 1000);
      expect((await world.get(`/questions/${answered.id}`)).status).to.equal(404);
      expect((await world.get(`/questions/${open.id}`)).status).to.equal(200);
      await aging.sweepAt(61 * day);
      expect((await world.get(`/questions/${open.id}`)).status).to.equal(404);
      await aging.sweepAt(92 * day);
      expect((await aging.body('/census')).scopes).to.include({ IDLE: 0 });
      await expectAgreement(world);
    });
  });
