import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMuster, Worker } from '../../src/clients/typescript/index.ts';
import { expectAgreement } from '../support/agree.ts';
import { World } from '../support/world.ts';

describe('Handlers that join messages of their own mailbox', () => {
  it('end with fewer slots than parents, to any depth, with one attempt each', async () => {
    const [slots, parents, children, depth] = [3, 6, 3, 3];
    const world = await World.create({ limits: { maxBacklog: 10_000 } });
    const muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    const worker = new Worker<{ left: number }, number>(
      muster,
      { mailbox: 'tree', concurrency: slots, closeOnSignals: false },
      async ({ payload: { left } }, { join }) => {
        if (left === 0) return 1;
        const below = Array.from({ length: children }, () => ({ mailbox: 'tree', payload: { left: left - 1 } }));
        const sums = await join<number>('below', below);
        return sums.reduce((sum, one) => sum + one, 1);
      },
    );
    const errors: unknown[] = [];
    worker.on('error', ({ error }) => errors.push(error));
    const mailboxId = await worker.mailboxId;
    const runs = Array.from({ length: parents }, () => randomUUID());
    const ids = await Promise.all(
      runs.map(async (scopeId) => (await muster.message.send({ mailboxId, scopeId, payload: { left: depth } })).id),
    );
    await Promise.all(runs.map((scopeId) => muster.scope.waitIdle({ scopeId })));
    const all = (children ** (depth + 1) - 1) / (children - 1);
    for (const messageId of ids)
      expect(await muster.message.view({ messageId })).to.deep.include({ state: 'ACKED', result: all, attempts: 1 });
    await worker.close();
    const { completed, suspended, returned, failed, lost } = worker.counts;
    const inner = (children ** depth - 1) / (children - 1);
    expect({ completed, suspended, returned, failed, lost }).to.deep.equal({
      ...{ completed: parents * all, suspended: parents * inner },
      ...{ returned: 0, failed: 0, lost: 0 },
    });
    expect(errors).to.deep.equal([]);
    await expectAgreement(world);
  });
});
