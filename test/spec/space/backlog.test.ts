import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { Traffic } from '../../support/traffic.ts';
import { World } from '../../support/world.ts';

describe('backlog', () => {
  it('is all zeros, with null ages, if nothing waits', async () => {
    const world = await World.create();
    const { asOf, ...rest } = (await world.get('/backlog')).body;
    expect(rest).to.deep.equal({
      outbox: { UNREAD: 0, PENDING: 0, DELIVERED: 0, EXHAUSTED: 0 },
      readyMessages: 0,
      delayedMessages: 0,
      blockedMessages: 0,
      claimedMessages: 0,
      waitingWaiters: 0,
      waitingHolds: 0,
      openQuestions: 0,
      armedTimers: 0,
      oldestReadyAgeSeconds: null,
      oldestWaiterAgeSeconds: null,
    });
  });

  it('shows for how many whole seconds the oldest READY message and the oldest WAITING waiter have waited', async () => {
    const world = await World.create();
    const start = Math.ceil(Date.now() / 600_000) * 600_000 + 450;
    await world.at(start);
    const traffic = await Traffic.on(world);
    const [first = '', second = ''] = [randomUUID(), randomUUID()].sort();
    await traffic.send(first);
    await world.at(start + 200);
    await traffic.note(first);
    await world.at(start + 300);
    await traffic.send(second);
    await world.at(start + 400);
    await traffic.send(first);
    await world.at(start + 2000);
    await traffic.units();
    const ages = async () => {
      const { body } = await world.get('/backlog');
      return [body.oldestReadyAgeSeconds, body.oldestWaiterAgeSeconds];
    };
    await world.at(start + 10_000);
    expect(await ages()).to.deep.equal([10, 8]);
    // The next ones are 200 and 300 ms younger, but of the same second.
    for (const [younger, mailbox] of [
      [200, traffic.work],
      [300, traffic.inbox],
    ] as const) {
      await traffic.claim(first, mailbox);
      await world.at(start + 10_000 + younger - 1);
      expect(await ages()).to.deep.equal([9, 8]);
      await world.at(start + 10_000 + younger);
      expect(await ages()).to.deep.equal([10, 8]);
    }
  });

  it('counts from the moment a message became ready again, not from its send', async () => {
    const world = await World.create();
    const start = Date.now();
    await world.at(start);
    const traffic = await Traffic.on(world);
    const scopeId = traffic.scope();
    await traffic.send(scopeId);
    const claim = await traffic.claim(scopeId);
    await world.at(start + 40_000);
    await traffic.nack(claim, true);
    await world.at(start + 45_000);
    const { body } = await world.get('/backlog');
    expect([body.oldestReadyAgeSeconds, body.readyMessages, body.claimedMessages]).to.deep.equal([5, 1, 0]);
  });
});
