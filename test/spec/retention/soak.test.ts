import { expect } from 'chai';
import { expectAgreement } from '../../support/agree.ts';
import { longMs, many } from '../../support/long.ts';
import { recount } from '../../support/recount.ts';
import { Aging, day } from './support.ts';

/** Kept for 400 days by rule: in this light traffic usage records weigh more than what they are about. */
const kept = /:usage:|reservation/;

/** The number of the organization's other keys, and the bytes that they take by the store's own account. */
async function footprint({ world }: Aging): Promise<{ bytes: number; keys: number }> {
  const { store } = world.service;
  let bytes = 0;
  let keys = 0;
  for (let cursor = '0', first = true; first || cursor !== '0'; first = false) {
    const [next, found] = await store.scan(cursor, 'MATCH', `muster:{${world.org}}*`, 'COUNT', 1000);
    cursor = next;
    for (const key of found) {
      if (kept.test(key)) continue;
      keys++;
      bytes += (await store.memory('USAGE', key, 'SAMPLES', '0')) ?? 0;
    }
  }
  return { bytes, keys };
}

function dateOf(aging: Aging, days: number): string {
  return new Date(aging.start + days * day).toISOString().slice(0, 10);
}

/** One day of light traffic, and its sweeps. */
async function live(aging: Aging, date: number): Promise<void> {
  const { traffic } = aging;
  const deadline = new Date(aging.now + 3_600_000).toISOString();
  const works = [traffic.messages(deadline), traffic.group(), traffic.barrier(), traffic.units()];
  await Promise.all([...works, traffic.later(), traffic.stopped()]);
  if (date % 10 === 0) await traffic.reservation(deadline);
  traffic.scopes.length = 0;
  await aging.sweepAt(date * day + 7_200_000);
  await aging.sweepAt((date + 1) * day);
}

const count = many(40, 400);
/** By then the first journal entries, kept for 30 days, have been removed. */
const early = many(38, 100);

describe(`a space used for ${count} days`, () => {
  it(`takes hardly more memory at the end than after ${early}, and every retained figure is right`, async function () {
    this.timeout(longMs);
    const aging = await Aging.begin();
    aging.packs = many(0, 1000) || undefined;
    aging.packsMessages = many(0, 1) || undefined;
    const { world } = aging;
    let before = { bytes: 0, keys: 0 };
    for (let date = 0; date < count; date++) {
      await live(aging, date);
      if (date === early - 1) before = await footprint(aging);
      if (date % (count / 2) === count / 2 - 1) await expectAgreement(world);
    }
    const after = await footprint(aging);
    // Each reservation's scope is kept with it; segments are of differing sizes.
    expect(after.keys - before.keys).to.be.at.most((count - early) / 10 + many(0, 20));
    expect(after.bytes).to.be.below(before.bytes * many(1.025, 1.2));

    const { census } = await recount(world);
    // Records that finish early in a day are removed early in a later day: the day at the end is not counted.
    expect(census.messages).to.deep.equal({
      // The retried message of the last day.
      READY: 1,
      DELAYED: 0,
      BLOCKED: 0,
      CLAIMED: 0,
      ACKED: 6 * 4,
      REJECTED: 6,
      FAILED: 0,
      EXPIRED: 7,
      CANCELLED: 6 * 3,
    });
    expect(census.tasks).to.deep.equal({
      PENDING: 1,
      RUNNING: 0,
      SUCCEEDED: 36 * 3,
      FAILED: 36,
      EXPIRED: 37,
      CANCELLED: 36 * 3,
    });
    expect(census.groups).to.deep.equal({ OPEN: 0, SEALED: 0, DECIDED: 29 });
    expect(census.barriers).to.deep.equal({ OPEN: 0, RELEASED: 29, CANCELLED: 29 });
    expect(census.waiters).to.deep.equal({ WAITING: 0, GRANTED: 29, CANCELLED: 29, EXPIRED: 30 });
    // One in ten days, kept for 400: in the long run the first has been removed.
    expect(census.reservations).to.deep.equal({ ACTIVE: 0, SETTLED: 0, VOIDED: many(4, 39) });
    // A stopped run is kept as long as the tombstone of its task.
    expect(census.scopes).to.include({ ACTIVE: 1, CANCELLED: 36 });
    const { days } = await aging.body(`/usage?from=${dateOf(aging, 1)}&to=${dateOf(aging, count)}`);
    const busy = days.slice(10, -1);
    expect(busy).to.have.length(count - 11);
    // Every tenth day has three more calls, for a reservation.
    const operations = busy.map((one: { operations: number }) => one.operations);
    expect([...new Set(operations)].sort()).to.deep.equal([37, 40]);
    expect(operations.filter((sum: number) => sum === 40)).to.have.length(count / 10 - 2);
    expect(new Set(busy.map((one: { retainedBytes: number }) => one.retainedBytes)).size).to.equal(1);
  });
});
