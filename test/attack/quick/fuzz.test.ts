import { expect } from 'chai';
import { fuzz } from '../support/fuzz.ts';

describe('Requests made from /openapi.json', () => {
  it('are answered as it declares, however invalid, never with a 500; refused ones write nothing', async function () {
    this.timeout(300_000);
    expect((await fuzz(600, 1)).statuses.size).to.be.above(45);
    expect((await fuzz(300, 2, 10)).statuses.size).to.be.above(25);
  });

  it('so are batches, and an atomic one happens as a whole or writes nothing', async function () {
    this.timeout(300_000);
    const { atomic } = await fuzz(200, 3, 1, 'batch');
    expect(atomic.done).to.be.above(5);
    expect(atomic.refused).to.be.above(20);
  });
});
