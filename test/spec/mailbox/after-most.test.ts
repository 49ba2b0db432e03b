import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { workOff } from '../../support/work-off.ts';
import { codeOf } from '../../support/world.ts';
import { printSteps, sendMany, stepByStep, wideQueue } from './many.ts';

describe('A message that ten thousand wait for', () => {
  it('has no more than that; their freeing, and the cancel of their run, go in short steps', async () => {
    const queue = await wideQueue();
    const blocked = async (): Promise<number> => (await queue.record()).counts.blocked;
    const first = await queue.sent();
    const after = [{ messageId: first }];
    await sendMany(queue, 9_999, { prerequisites: `CANCEL m${first}` });
    const last = await queue.sent({ after });
    expect(codeOf(await queue.send({ after }))).to.equal('409 DEPENDENTS_FULL');
    const calls = [
      { call: 'message.cancel', messageId: last },
      { call: 'message.send', mailboxId: queue.id, scopeId: queue.scopeId, payload: 1, after },
    ];
    const { results } = await queue.world.mustPost('/batch', { atomic: true, calls });
    expect(results[1].status).to.equal(201);
    await queue.act('complete', await queue.claim());
    const steps = await stepByStep(queue.world, blocked);
    expect(await blocked()).to.equal(0);
    expect(Math.max(...steps.map(({ changed }) => changed))).to.be.at.most(50);
    printSteps('freeing 10,000', steps);
    const second = await queue.sent({ scopeId: randomUUID() });
    await sendMany(queue, 1_000, { prerequisites: `CANCEL m${second}` });
    await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
    await workOff(queue.world);
    expect(await blocked()).to.equal(0);
    expect(await queue.world.service.store.llen(`${queue.world.prefix}:dependents:${second}`)).to.equal(0);
  });
});
