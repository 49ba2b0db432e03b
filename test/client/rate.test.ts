import { expect } from 'chai';
import { Starts } from '../../src/clients/typescript/worker/rate.ts';

describe("A worker's rate, by a clock that the test sets", () => {
  let nowMs = 0;
  const startsOf = (limit: number, windowSeconds: number) => new Starts({ limit, windowSeconds }, () => nowMs);
  beforeEach(() => {
    nowMs = 5_000;
  });

  it('leaves room for so many in any window, wherever it begins', () => {
    const starts = startsOf(3, 10);
    expect([starts.room, starts.waitMs]).to.deep.equal([3, 0]);
    starts.begin();
    nowMs += 9_000;
    starts.begin();
    starts.begin();
    expect([starts.room, starts.waitMs]).to.deep.equal([0, 1_000]);
    nowMs += 999;
    expect([starts.room, starts.waitMs]).to.deep.equal([0, 1]);
    nowMs += 1;
    expect([starts.room, starts.waitMs]).to.deep.equal([1, 0]);
    starts.begin();
    // Not at the end of a fixed window: those begun 1 s ago still count.
    expect([starts.room, starts.waitMs]).to.deep.equal([0, 9_000]);
    nowMs += 60_000;
    expect(starts.room).to.equal(3);
  });

  it('waits no longer at once than a timer can', () => {
    const starts = startsOf(1, 31_536_000);
    starts.begin();
    expect(starts.waitMs).to.equal(2 ** 31 - 1);
  });

  it('is refused unless it lets something begin', () => {
    for (const limit of [0, -1, 1.5, Number.NaN]) expect(() => startsOf(limit, 1)).to.throw(RangeError, 'rate.limit');
    for (const seconds of [0, -1, Number.NaN])
      expect(() => startsOf(1, seconds)).to.throw(RangeError, 'rate.windowSeconds');
  });
});
