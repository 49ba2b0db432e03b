import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { expectAgreement } from '../support/agree.ts';
import { longMs } from '../support/long.ts';
import { codeOf, type World } from '../support/world.ts';
import type { Curl } from './curl.ts';
import { PoolModel } from './pool.model.ts';
import { met, PoolPair, poolSteps } from './pool.pair.ts';
import { trySequences } from './sequences.ts';

const step = fc.oneof(
  ...poolSteps,
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 15 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const acquire = (pool: number, units: number, who?: 'ann' | 'bob', ttl = 40): Step => ({
  ...{ do: 'acquire', pool, units, who, ttl, lease: 20 },
});
/** Produces every outcome, so that none depends on chance. */
const everything: Step[] = [
  ...[acquire(0, 3, 'ann'), acquire(1, 3, 'bob'), acquire(1, 1, 'ann'), acquire(0, 1, 'bob')],
  ...[acquire(0, 4), acquire(0, 1, undefined, 0), acquire(1, 2, undefined, 5), acquire(1, 2)],
  ...[
    { do: 'units' as const, pool: 1, to: 1 },
    { do: 'cancel' as const, index: 0 },
    { do: 'cancel' as const, index: 4 },
    { do: 'cancel' as const, index: 4 },
    { do: 'renew' as const, index: 0, isToken: true, lease: 30 },
    { do: 'renew' as const, index: 0, isToken: false, lease: undefined },
    { do: 'pass' as const, seconds: 6 },
    { do: 'release' as const, index: 0, isToken: true },
    { do: 'release' as const, index: 0, isToken: true },
    { do: 'pass' as const, seconds: 15 },
    { do: 'pass' as const, seconds: 15 },
    { do: 'units' as const, pool: 0, to: 5 },
  ],
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
];

/** The end of the first wait lets in the second, which ends at the same moment. */
const together: Step[] = [
  ...[acquire(0, 1), acquire(0, 3, undefined, 2), acquire(0, 1, undefined, 2), acquire(0, 1)],
  { do: 'pass' as const, seconds: 2 },
];

/** The second of three waits ends first, as the first is renewed. */
const renewed: Step[] = [
  ...[acquire(0, 3), acquire(0, 1, undefined, 10), acquire(0, 1, undefined, 10), acquire(0, 1, undefined, 12)],
  { do: 'pass' as const, seconds: 5 },
  { do: 'waitOn' as const, index: 1, ttl: undefined },
  { do: 'waitOn' as const, index: 3, ttl: 5 },
  { do: 'waitOn' as const, index: 0, ttl: 5 },
  { do: 'pass' as const, seconds: 5 },
  { do: 'waitOn' as const, index: 2, ttl: 5 },
  { do: 'release' as const, index: 0, isToken: true },
];

const outcomes = ['200', '201', 'UNITS_EXCEED_LIMIT', 'DEADLOCK', 'POOL_EXHAUSTED', 'CLAIM_LOST'].concat(
  ['HOLD_NOT_WAITING', 'LIMIT_BELOW_USE', 'WAITING', 'HELD', 'RELEASED', 'LAPSED', 'CANCELLED', 'EXPIRED'],
  ['granted after a wait', 'waits longer'],
);

/** Moves the clock while no worker runs; then a call makes what is due take effect. */
async function moveBy(curl: Curl, model: PoolModel, seconds: number): Promise<void> {
  model.advance(model.now + 1000 * seconds);
  await curl.at(model.now);
  expect(codeOf(await curl.post(`/pool-holds/${randomUUID()}/cancel`))).to.equal('404 HOLD_NOT_FOUND');
}

describe('pool model', () => {
  it('holds no more than its units, in arrival order, with growing fences, after every step of any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{
        first: fc.constant(null),
        step,
        maxLength: 40,
        examples: [everything, together, renewed].map((steps): [null, Step[]] => [null, steps]),
        outcomes,
        met,
      },
      run: async (curl: Curl, world: World, now: number, _, sequence: Step[]) => {
        const model = new PoolModel(3, 3);
        model.now = now;
        const make = async (name: string) => (await curl.post('/pools', { name, units: 3 })).body.id;
        const pair = new PoolPair(curl, model, [await make('a'), await make('b')]);
        for (const one of sequence) {
          if (one.do === 'pass') await moveBy(curl, model, one.seconds);
          else if (one.do === 'again') await curl.again(one.index);
          else await pair.take(one);
          await pair.compare();
        }
        await expectAgreement(world);
      },
    });
  });
});
