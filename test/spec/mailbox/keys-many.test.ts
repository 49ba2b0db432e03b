import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { longMs, many } from '../../support/long.ts';
import { printSteps, sendMany, stepByStep, wideQueue } from './many.ts';

const count = many(600, 10_000);

describe('Many messages that wait for their keys', function () {
  this.timeout(longMs);

  for (const [what, keys] of [
    ['one key', 1],
    ['as many keys', count],
  ] as const)
    it(`become ready in short steps when perKey is raised: ${what}`, async () => {
      const queue = await wideQueue();
      const patch = (perKey: number | null) => queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey });
      await patch(1);
      if (keys === 1) await sendMany(queue, count + 1, { key: 'one' });
      else for (const _ of ['first', 'second']) await sendMany(queue, count, { keys: (n) => `key-${n}` });
      const blocked = async (): Promise<number> => (await queue.record()).counts.blocked;
      expect(await blocked()).to.equal(count);
      await patch(null);
      const steps = await stepByStep(queue.world, blocked);
      expect(await blocked()).to.equal(0);
      expect(Math.max(...steps.map(({ changed }) => changed))).to.be.at.most(50);
      printSteps(`raising perKey over ${count}, ${what}`, steps);
    });

  for (const [what, fields] of [
    ['their key', { key: 'one' }],
    ['a message', {}],
  ] as const)
    it(`messages that wait for ${what} end in short steps with their run`, async () => {
      const queue = await wideQueue();
      await queue.world.call('PATCH', `/mailboxes/${queue.id}`, { perKey: 1 });
      const first = await queue.sent({ ...fields, scopeId: randomUUID() });
      await sendMany(queue, count, 'key' in fields ? fields : { prerequisites: `CANCEL m${first}` });
      const blocked = async (): Promise<number> => (await queue.record()).counts.blocked;
      expect(await blocked()).to.equal(count);
      await queue.world.mustPost(`/scopes/${queue.scopeId}/cancel`);
      const steps = await stepByStep(queue.world, blocked);
      expect(await blocked()).to.equal(0);
      printSteps(`cancelling ${count} that wait for ${what}`, steps);
      expect((await queue.claim({ scopeId: '*' })).id).to.equal(first);
    });
});
