import { expect } from 'chai';
import { fuzz } from '../support/fuzz.ts';

describe('Requests made from /openapi.json', () => {
  it('are answered as it declares, whatever is wrong with them, and never with a 500', async function () {
    this.timeout(60_000);
    const { requests, statuses } = await fuzz(600, 1);
    expect(requests).to.equal(600);
    expect(statuses.size).to.be.above(50);
  });
});
