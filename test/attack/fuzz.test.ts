import { expect } from 'chai';
import { fuzz } from './support/fuzz.ts';

/** `npm run test:attack -- --seed=7` runs with another seed. */
const seed = Number(process.argv.find((word) => word.startsWith('--seed='))?.slice(7) ?? 20_260_101);
const requests = 10_000;

describe('Fuzzing', function () {
  this.timeout(180_000);
  for (const together of [1, 10]) {
    const how = together === 1 ? 'one by one' : `up to ${together} of one operation at once, from every kind of caller`;
    it(`10,000 requests made from /openapi.json, ${how}: never a 500, every answer as declared, every route reached`, async () => {
      const start = performance.now();
      const { declared, seen, statuses, atomic, requests: sent } = await fuzz(requests, seed, together);
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      const figures = `${sent} requests in ${seconds} s, ${statuses.size} routes`;
      console.log(`      seed ${seed}: ${figures}, ${seen.size} of ${declared.length} declared outcomes seen`);
      console.log(
        `      atomic batches: ${atomic.done} happened, ${atomic.refused} were refused for one of their calls`,
      );
      expect(sent).to.be.at.least(requests);
      const lacking = [...statuses].filter(([, all]) => !some(all, 200, 299) || !some(all, 400, 499));
      expect(lacking.map(([id, all]) => `${id}: ${[...all].join()}`)).to.deep.equal([]);
    });
  }
});

const some = (statuses: ReadonlySet<number>, from: number, to: number): boolean =>
  [...statuses].some((status) => status >= from && status <= to);
