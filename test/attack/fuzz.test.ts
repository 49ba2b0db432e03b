import { expect } from 'chai';
import { allRoutes } from '../../src/primitives/primitives.ts';
import { fuzz } from './support/fuzz.ts';

/** `npm run test:attack -- --seed=7` runs with another seed. */
const seed = Number(process.argv.find((word) => word.startsWith('--seed='))?.slice(7) ?? 20_260_101);
const requests = 10_000;
/** Chance leaves a few routes out. If it leaves more, the generator no longer makes requests that they accept. */
const maxMissed = 5;

describe('Fuzzing', function () {
  this.timeout(180_000);
  for (const together of [1, 10]) {
    const how = together === 1 ? 'one by one' : `up to ${together} of one operation at once, from every kind of caller`;
    it(`10,000 requests made from /openapi.json, ${how}: never a 500, every answer as declared, every route reached`, async () => {
      const start = performance.now();
      const options = { together, reachAll: true };
      const { declared, seen, statuses, atomic, missed, requests: sent } = await fuzz(requests, seed, options);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const figures = `${sent} requests in ${seconds} s, ${statuses.size} routes`;
      console.log(`      seed ${seed}: ${figures}, ${seen.size} of ${declared.length} declared outcomes seen`);
      console.log(
        `      atomic batches: ${atomic.done} happened, ${atomic.refused} were refused for one of their calls`,
      );
      console.log(`      missed by random requests, then aimed at: ${missed.join(', ') || 'none'}`);
      expect(sent).to.be.at.least(requests);
      expect(missed.length, missed.join()).to.be.at.most(maxMissed);
      const reached = allRoutes.map(({ call }) => [call, [...(statuses.get(call) ?? [])].toSorted()] as const);
      const lacking = reached.filter(([, all]) => !some(all, 200, 299) || !some(all, 400, 499));
      expect(lacking.map(([call, all]) => `${call}: ${all.join()}`)).to.deep.equal([]);
    });
  }
});

const some = (statuses: readonly number[], from: number, to: number): boolean =>
  statuses.some((status) => status >= from && status <= to);
