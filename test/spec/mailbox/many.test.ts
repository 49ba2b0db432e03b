import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { dueKey } from '../../../src/engine/redis/due.ts';
import { expectAgreement } from '../../support/agree.ts';
import { readCommands } from '../../support/commands.ts';
import { longMs, many } from '../../support/long.ts';
import { printSteps, sendMany, stepByStep, uuids, wideQueue } from './many.ts';
import { Queue } from './queue.ts';

describe('Many messages in one mailbox', function () {
  this.timeout(longMs);
  const big = many(1_000, 100_000);
  const each = many(4, 10);
  /** One message of each run a round, and the receives that 50 receivers have in flight. */
  const enough = each * 100 + 60;

  it(`lets 50 receivers with \`*\` serve 99 runs of ${each} within ${enough} receives, beside one run with ${big} ready`, async () => {
    const queue = await wideQueue();
    const small = uuids(99);
    await sendMany(queue, big);
    await sendMany(queue, each * small.length, { scopeIds: small });
    const left = new Map(small.map((scopeId) => [scopeId, each]));
    let receives = 0;
    const receiver = async (): Promise<void> => {
      while (left.size > 0 && receives++ < 2 * enough) {
        const { scopeId } = await queue.claim({ scopeId: '*' });
        const rest = left.get(scopeId) ?? 0;
        if (rest > 1) left.set(scopeId, rest - 1);
        else left.delete(scopeId);
      }
    };
    await Promise.all(Array.from({ length: 50 }, receiver));
    expect([...left]).to.deep.equal([]);
    expect(receives).to.be.within(each * small.length, enough);
  });

  const together = many(300, 10_000);

  it('delayed messages that are due together become ready in order, in steps of 25, while calls go on', async () => {
    const queue = await wideQueue();
    const { world } = queue;
    const { store, due } = world.service;
    const now = Date.now();
    await world.at(now);
    const runs = uuids(3);
    await sendMany(queue, together, { scopeIds: runs, delaySeconds: '60' });
    const delayed = `${world.prefix}:mailbox:${queue.id}:delayed`;
    const inOrder = await store.zrange(delayed, '0', '-1');
    expect(inOrder).to.deep.equal(inOrder.toSorted());
    await world.at(now + 60_000);

    const [sibling, elsewhere] = [await Queue.create({}, world), await Queue.create()];
    for (const other of [sibling, elsewhere]) {
      const commands = await readCommands(store, async () => {
        await other.sent();
        await other.act('complete', await other.claim());
      });
      const called = commands.flatMap(([name, called = '']) =>
        name === 'FCALL' ? [called.replace(/_\w{8}$/, '')] : [],
      );
      expect(called).to.deep.equal(['mailbox_send', 'mailbox_recv', 'mailbox_complete']);
    }
    expect(await store.zcard(delayed), 'nobody has waited for them').to.equal(together);

    const steps = await stepByStep(world, () => store.zcard(delayed));
    printSteps(`${together} due together`, steps);
    expect(steps).to.have.lengthOf(together / 25);
    expect(new Set(steps.map(({ changed }) => changed))).to.deep.equal(new Set([25]));
    await due.drain(world.org);
    for (const scopeId of runs) {
      const ofRun = new Set(await store.zrange(`${world.prefix}:scope:${scopeId}:messages`, '0', '-1'));
      const first = inOrder.filter((id) => ofRun.has(id)).slice(0, 100);
      const { messages } = await queue.claim({ scopeId, max: 100 });
      expect(messages.map(({ id }: { id: string }) => id)).to.deep.equal(first);
    }
  });

  it('counters are right after each step that makes messages ready, even if the index lost the space', async () => {
    const queue = await wideQueue();
    const { world } = queue;
    const { store, due } = world.service;
    // In the past, so that all is due by the index's clock, too.
    const now = Date.now() - 60_000;
    await world.at(now);
    await sendMany(queue, 70, { scopeIds: uuids(2), delaySeconds: '5' });
    // A requeued message, with a delay of its own.
    const id = await queue.sent();
    await queue.act('nack', await queue.claim(), { retry: false });
    await world.mustPost(`/messages/${id}/requeue`, { delaySeconds: 6 });
    await expectAgreement(world, { isClockSteady: false });
    await world.at(now + 5_000);
    const delayed = () => store.zcard(`${world.prefix}:mailbox:${queue.id}:delayed`);
    for (let left = 71; left > 1; left = await delayed()) {
      await stepByStep(world, delayed, 1);
      // A process that dies here has not announced the rest.
      await store.del(dueKey);
      await expectAgreement(world, { isClockSteady: false });
    }
    await world.at(now + 6_000);
    await due.repair();
    expect(await queue.counts()).to.deep.equal({ ready: 71 });
    await expectAgreement(world, { isClockSteady: false });
  });

  it('makes some ready when a receive comes before the workers, and loses nothing if the process then dies', async () => {
    const queue = await wideQueue();
    const { world } = queue;
    // In the past, so that all is due by the index's clock, too.
    const now = Date.now() - 60_000;
    await world.at(now);
    await sendMany(queue, 60, { delaySeconds: '5' });
    await world.at(now + 5_000);
    expect((await queue.recv()).status).to.equal(200);
    await world.service.store.del(dueKey);
    await expectAgreement(world, { isClockSteady: false });
    await world.service.due.repair();
    expect(await queue.counts()).to.deep.equal({ ready: 59, claimed: 1 });
    expect((await queue.recv({ scopeId: randomUUID() })).status).to.equal(204);
    await expectAgreement(world, { isClockSteady: false });
  });
});
