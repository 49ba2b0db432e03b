import { expect } from 'chai';
import { keptPromises, promises } from '../support/guide/promises.ts';

// Not among the contract tests: every new test changes the page.
describe('The page of promises', () => {
  it('has the title of every test: npm run -s describe', () => {
    expect(keptPromises() === promises(), 'npm run -s describe').to.equal(true);
  });
});
