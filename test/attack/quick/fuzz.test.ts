import { expect } from 'chai';
import { fuzz } from '../support/fuzz.ts';

describe('Requests made from /openapi.json', () => {
  it('are answered as it declares, however invalid, never with a 500; refused ones write nothing', async function () {
    this.timeout(300_000);
    expect((await fuzz(200, 1)).statuses.size).to.be.above(30);
    expect((await fuzz(120, 2, { together: 10 })).statuses.size).to.be.above(10);
  });

  it('batches are, too, and an atomic one happens as a whole or writes nothing', async function () {
    this.timeout(300_000);
    const { atomic } = await fuzz(80, 3, { only: 'batch' });
    expect(atomic.done).to.be.above(0);
    expect(atomic.refused).to.be.above(10);
  });
});
