import { expect } from 'chai';
import { Outbox } from './steps.ts';

const guardMs = 25_000;

describe('the dispatcher', () => {
  it('reads the journal in steps, each entry once, for every destination except DISABLED ones', async () => {
    const outbox = await Outbox.create();
    await outbox.register(['mailbox.created']);
    await outbox.world.call('PATCH', `/destinations/${await outbox.register()}`, { state: 'DISABLED' });
    await outbox.register(['budget.*']);
    await outbox.dispatch();
    await outbox.happen(5);
    const named: string[] = [];
    for (const [more, UNREAD, PENDING] of [
      [1, 6, 2],
      [1, 2, 4],
      [0, 0, 5],
      [0, 0, 5],
    ]) {
      const step = await outbox.dispatch(2);
      expect([step.more, step.nextInMs]).to.deep.equal([more, guardMs]);
      expect(await outbox.counts()).to.include({ UNREAD, PENDING });
      for (const [, entryId = '', number] of step.attempts) named.push(`${number} ${entryId}`);
    }
    expect(named).to.have.length(5);
    expect(new Set(named).size).to.equal(5);
  });

  it('stops reading at 1,000 unfinished deliveries of a destination', async () => {
    const outbox = await Outbox.create();
    const key = outbox.key(await outbox.register(['mailbox.created']));
    const others = Array.from({ length: 999 }, (_, i) => [`${outbox.start + 1_000_000}`, `1-${i}`]).flat();
    await outbox.world.service.store.zadd(`${key}:unfinished`, ...others);
    await outbox.happen(3);
    for (let i = 0; i < 2; i++) {
      await outbox.dispatch();
      expect(await outbox.counts()).to.include({ UNREAD: 2, PENDING: 1 });
    }
  });

  it('returns up to 16 attempts of a destination at once, 2 of a failing one, and again those whose worker was lost', async () => {
    const outbox = await Outbox.create();
    const { world, start } = outbox;
    const id = await outbox.register(['mailbox.created']);
    await outbox.happen(20);
    const named = async () => (await outbox.dispatch(100)).attempts.length;
    expect([await named(), await named()]).to.deep.equal([16, 0]);
    await world.at(start + guardMs);
    expect([await named(), await named()]).to.deep.equal([16, 0]);
    await world.service.store.hset(outbox.key(id), 'consecutiveFailures', 1);
    await world.at(start + 2 * guardMs);
    expect([await named(), await named()]).to.deep.equal([2, 0]);
  });
});
