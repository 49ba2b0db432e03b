import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createMuster, type Muster, type MusterError, Worker } from '../../src/clients/typescript/index.ts';
import { World } from '../support/world.ts';

interface Review {
  readonly approves: boolean;
}

describe('a judge of the typed client', () => {
  let world: World;
  let muster: Muster;
  let mailboxId: string;
  let worker: Worker<Review, Review>;
  beforeEach(async () => {
    world = await World.create();
    muster = createMuster({ url: world.url, key: world.apiKey, spaceId: world.spaceId });
    mailboxId = (await muster.mailbox.create({ name: randomUUID() })).id;
  });
  afterEach(() => worker.close(0));
  const work = () => {
    worker = new Worker<Review, Review>(
      muster,
      { mailbox: { mailboxId }, closeOnSignals: false },
      ({ payload }) => payload,
    );
  };

  async function group(threshold: number, reviews: readonly boolean[]) {
    const made = await muster.group.create({ mailboxId, condition: 'N_ACCEPTED', threshold });
    for (const [n, approves] of reviews.entries())
      await muster.task.submit({ groupId: made.groupId, taskKey: String(n), input: { approves } });
    await muster.group.seal({ groupId: made.groupId });
    return made;
  }

  it('accepts and rejects each result once, until that decides the group', async () => {
    const made = await group(2, [false, true, false, true, true]);
    const seen: (string | null)[] = [];
    const judging = muster.judge<Review>(made, ({ taskKey, outcome }) => {
      seen.push(taskKey);
      return outcome.approves;
    });
    work();
    const { state, outcome, members } = await judging;
    expect([state, outcome]).to.deep.equal(['DECIDED', 'SATISFIED']);
    expect(members.slice(0, 4).map(({ verdict }) => verdict)).to.deep.equal([
      'REJECTED',
      'ACCEPTED',
      'REJECTED',
      'ACCEPTED',
    ]);
    expect(seen.slice(0, 4)).to.deep.equal(['0', '1', '2', '3']);
  });

  it('gives no verdict after the one that decides', async () => {
    const made = await group(2, [true, true, true, true]);
    work();
    await worker.drained();
    expect((await muster.judge(made, () => true)).counts.accepted).to.equal(2);
  });

  it('begins again where another has ended, and leaves to others what it does not judge', async () => {
    const made = await group(2, [true, true]);
    work();
    const stop = new AbortController();
    const first = muster.judge<Review>(
      made.groupId,
      ({ taskKey }) => {
        if (taskKey === '1') stop.abort(new Error('enough'));
        return taskKey === '0' ? true : undefined;
      },
      { signal: stop.signal },
    );
    expect(await first.catch(({ message }) => message)).to.equal('enough');
    const seen: (string | null)[] = [];
    const { outcome } = await muster.judge(made.groupId, ({ taskKey }) => {
      seen.push(taskKey);
      return true;
    });
    expect([outcome, seen]).to.deep.equal(['SATISFIED', ['1']]);
  });

  it('agrees with a second one that judges at the same time', async () => {
    const made = await group(3, [true, true, true, true]);
    work();
    const both = await Promise.all([true, false].map((one) => muster.judge(made, () => one)));
    expect(both.map(({ state }) => state)).to.deep.equal(['DECIDED', 'DECIDED']);
    expect(both[0]?.outcome).to.equal(both[1]?.outcome);
  });

  it('ends with a group that others decide, and throws what its function throws', async () => {
    const made = await group(1, [true]);
    const judging = muster.judge(made, () => true);
    await muster.scope.cancel({ scopeId: made.scopeId });
    expect((await judging).outcome).to.equal('CANCELLED');
    const other = await group(1, [true]);
    work();
    const failing = muster.judge(other, () => {
      throw new Error('the model is away');
    });
    expect(await failing.catch(({ message }) => message)).to.equal('the model is away');
    const unknown = await muster.judge(randomUUID(), () => true).catch((error) => error);
    expect((unknown as MusterError).code).to.equal('GROUP_NOT_FOUND');
  });
});
