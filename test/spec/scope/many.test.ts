import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { Commands } from '../../support/commands.ts';
import { longMs, many } from '../../support/long.ts';
import { printSteps, sendMany, stepByStep, wideQueue } from '../mailbox/many.ts';
import { Run } from './run.ts';

describe('A run with many messages', function () {
  this.timeout(longMs);
  const maxChanges = 500;
  const count = many(1_500, 100_000);

  it('a run with many messages is cancelled in steps of at most 500 records, which end each once', async () => {
    const queue = await wideQueue();
    const { world } = queue;
    await sendMany(queue, count);
    const run = new Run(world, queue.scopeId, queue.id);
    const first = (await run.cancel()).body;
    expect(first.done).to.equal(false);
    expect(first.cancelled.messages).to.be.within(1, maxChanges);
    const ended = async () => count - (await run.view()).live.messages;
    const steps = await stepByStep(world, ended);
    printSteps(`a run of ${count}`, steps);
    expect(Math.max(...steps.map(({ changed }) => changed))).to.be.within(1, maxChanges);
    expect(steps.reduce((sum, { changed }) => sum + changed, first.cancelled.messages)).to.equal(count);
    expect((await run.cancel()).body).to.deep.include({ done: true });
    expect((await run.cancel()).body.cancelled.messages).to.equal(count);
    expect((await world.get('/census')).body.messages).to.include({ READY: 0, CANCELLED: count });
  });

  it(`a receive ends at most ${maxChanges} cancelled messages at the head per script, and calls again`, async () => {
    const queue = await wideQueue();
    const { world } = queue;
    const top = new Run(world, queue.scopeId, queue.id);
    const stopped = await top.below();
    await sendMany(queue, 1_200, { scopeIds: [stopped.scopeId] });
    const [behind] = await top.sent(1);
    expect((await stopped.cancel()).body.done).to.equal(false);
    for (const scopeId of [top.scopeId, '*']) {
      const commands = await Commands.hear(world.service.store);
      const reply = await top.recv({ scopeId });
      const receives = (await commands.take()).filter(({ words: [, name = ''] }) => name.startsWith('mailbox_recv'));
      commands.stop();
      const events = receives.map(({ inside }) => inside.filter(([name]) => name === 'XADD').length);
      // A receive across all runs takes two scripts: the first one asks for their turns.
      if (scopeId === '*') expect([reply.status, receives.length]).to.deep.equal([204, 2]);
      else {
        expect(reply.body.id).to.equal(behind);
        expect(receives.length).to.be.above(2);
        expect(Math.max(...events)).to.be.within(1, maxChanges);
        // The last event is that of the receive itself.
        expect(events.reduce((sum, some) => sum + some)).to.equal(1_200 - 250 + 1);
      }
    }
    expect((await stopped.cancel()).body).to.deep.include({ done: true });
    expect((await stopped.cancel()).body.cancelled.messages).to.equal(1_200);
    await expectAgreement(world);
  });
});
