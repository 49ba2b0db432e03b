import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { codeOf } from '../../support/world.ts';
import { Purse } from './purse.ts';

/** 1 … 999,999,999,999,999,999, uniform in the number of digits, so that small amounts fit in between. */
function randomAmount(): string {
  const digits = randomInt(1, 19);
  return `${randomInt(1, 10)}${Array.from({ length: digits - 1 }, () => randomInt(10)).join('')}`;
}

const sum = (amounts: string[]): bigint => amounts.reduce((total, amount) => total + BigInt(amount), 0n);
const limit = '999999999999999999';

describe('200 parallel requests', () => {
  it('200 reserves of random 18-digit amounts never overspend, and account for every unit', async () => {
    const purse = await Purse.create(limit);
    const amounts = Array.from({ length: 200 }, (_, i) =>
      i % 2 ? randomAmount() : `${randomInt(1, 10)}${randomAmount().padStart(17, '5').slice(-17)}`,
    );
    const replies = await Promise.all(amounts.map((amount) => purse.reserve(amount)));
    const created = replies.filter(({ status }) => status === 201).map(({ body }) => body);
    expect(new Set(replies.map(codeOf))).to.deep.equal(new Set(['201', '409 INSUFFICIENT_BUDGET']));
    const reserved = sum(created.map(({ amountMinor }) => amountMinor));
    expect(reserved <= BigInt(limit)).to.equal(true);
    expect(await purse.balances()).to.equal(`${limit} ${reserved} 0 ${BigInt(limit) - reserved}`);
    // No refused amount would fit into what is left.
    const refused = amounts.filter((_, i) => replies[i]?.status === 409);
    for (const amount of refused) expect(BigInt(amount) > BigInt(limit) - reserved).to.equal(true);

    const half = (one: { id: string; amountMinor: string }) => purse.settle(one.id, `${BigInt(one.amountMinor) / 2n}`);
    const ends = created.flatMap((one, i) => {
      if (i % 3 === 0) return [half(one)];
      return i % 3 === 1 ? [half(one), purse.void(one.id)] : [half(one).then(() => purse.void(one.id))];
    });
    const done = (await Promise.all(ends)).map(codeOf);
    expect(done.filter((code) => code === '200').length).to.be.at.least(2 * Math.floor(created.length / 3));
    const { reservations, balances } = await purse.view('?limit=200');
    const total = (field: string): bigint => sum(reservations.map((one: Record<string, string>) => one[field]));
    expect(BigInt(balances.reserved)).to.equal(total('remainingMinor'));
    expect(BigInt(balances.settled)).to.equal(total('settledMinor'));
    expect(BigInt(balances.available)).to.equal(BigInt(limit) - total('remainingMinor') - total('settledMinor'));
    expect(total('amountMinor')).to.equal(total('remainingMinor') + total('settledMinor') + total('voidedMinor'));
  });

  it('200 settles of one reservation stop when it has nothing left', async () => {
    const purse = await Purse.create(limit);
    const { id } = (await purse.reserve('900000000000000001')).body;
    const replies = await Promise.all(Array.from({ length: 200 }, () => purse.settle(id, '9000000000000001')));
    expect(replies.filter(({ status }) => status === 200)).to.have.lengthOf(99);
    expect(replies.filter((reply) => codeOf(reply) === '409 SETTLEMENT_EXCEEDS_RESERVATION')).to.have.lengthOf(101);
    const settled = 99n * 9000000000000001n;
    expect(await purse.balances()).to.equal(`${limit} ${900000000000000001n - settled} ${settled} 99999999999999998`);
  });

  it('200 settles with one workKey settle once', async () => {
    const purse = await Purse.create(limit);
    const { id } = (await purse.reserve('1000')).body;
    const replies = await Promise.all(Array.from({ length: 200 }, () => purse.settle(id, '5', 'w')));
    expect(replies.filter(({ body }) => body.replay === false)).to.have.lengthOf(1);
    expect(new Set(replies.map(({ body }) => body.entry.id)).size).to.equal(1);
    expect(await purse.balances()).to.equal(`${limit} 995 5 ${BigInt(limit) - 1000n}`);
  });
});
