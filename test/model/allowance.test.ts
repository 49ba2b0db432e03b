import { expect } from 'chai';
import fc from 'fast-check';
import { longMs } from '../support/long.ts';
import { codeOf } from '../support/world.ts';
import { AllowanceModel } from './allowance.model.ts';
import { AllowancePair, allowanceSteps, met, scopeId } from './allowance.pair.ts';
import type { Curl } from './curl.ts';
import { trySequences } from './sequences.ts';

const step = fc.oneof(
  ...allowanceSteps,
  { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('again' as const), index: fc.nat(9) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const consume = (units: number, workKey?: 'w1' | 'w2'): Step => ({ do: 'consume', units, holder: 'a', workKey });
/** Produces every outcome, so that none depends on chance. */
const everything: Step[] = [
  ...[consume(1, 'w1'), consume(1, 'w1'), consume(2, 'w1'), consume(6)],
  ...[{ do: 'wait' as const, units: 5, ttl: 5 }, consume(1), { do: 'wait' as const, units: 3, ttl: 5 }],
  ...[
    { do: 'cancel' as const, index: 0 },
    { do: 'cancel' as const, index: 1 },
  ],
  ...[
    { do: 'wait' as const, units: 5, ttl: 5 },
    { do: 'pass' as const, seconds: 6 },
  ],
  ...[{ do: 'cooldown' as const, seconds: 3 }, consume(1)],
  ...[{ do: 'pass' as const, seconds: 20 }, consume(5), { do: 'wait' as const, units: 5, ttl: 40 }],
  ...[4, 10, 5].map((to) => ({ do: 'limit' as const, to })),
  // One that is there only because it was renewed, one that its renewal has shortened.
  ...[
    { do: 'pass' as const, seconds: 14 },
    ...[consume(5), { do: 'wait' as const, units: 5, ttl: 6 }, { do: 'wait' as const, units: 5, ttl: 40 }],
    ...[
      { do: 'pass' as const, seconds: 4 },
      { do: 'renew' as const, index: 4, ttl: undefined },
    ],
    ...[
      { do: 'renew' as const, index: 5, ttl: 5 },
      { do: 'pass' as const, seconds: 5 },
    ],
    ...[
      { do: 'pass' as const, seconds: 5 },
      { do: 'renew' as const, index: 4, ttl: undefined },
    ],
  ],
  // Every kind of call, the creation included.
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
];

const settle = (index: number, units: number, isGrant = false): Step => ({ do: 'settle', index, isGrant, units });
const pass = (seconds: number): Step => ({ do: 'pass', seconds });
const wait = (units: number): Step => ({ do: 'wait', units, ttl: 40 });
/** One takes more and one gives back what a waiter gets; some are settled after their window. */
const settlements: Step[] = [
  ...[consume(3), consume(2), wait(2), settle(1, 3), settle(0, 0), pass(20), settle(1, 3), settle(1, 1)],
  ...[consume(5), pass(10), settle(2, 8), wait(5), settle(1, 3, true), settle(1, 3, true), settle(1, 4, true)],
  ...[wait(5), settle(2, 1, true), ...[1, 0].map((remaining) => ({ do: 'observe' as const, remaining, seconds: 3 }))],
  ...Array.from({ length: 10 }, (_, index) => ({ do: 'again' as const, index })),
];

/** The outcomes that all sequences together must produce, and those produced so far. */
const outcomes = ['200', '201', 'replay', 'WORK_KEY_CONFLICT', 'UNITS_EXCEED_LIMIT', 'WAITER_NOT_WAITING'].concat(
  ['LIMIT_BELOW_USE', 'granted by a higher limit', 'used more than the limit'],
  ['outlived its first time', 'CONSUMPTION_SETTLED', 'CONSUMPTION_NOT_FOUND', 'granted by a settlement'],
  ['ALLOWANCE_COOLING_DOWN', 'ALLOWANCE_EXHAUSTED', 'GRANTED', 'EXPIRED', 'CANCELLED', 'WAITING'],
  ['refused behind a waiter though there are units', 'moved up by a cancel'],
);

/** Moves the clock while no worker runs; then a call makes what is due take effect. */
async function moveBy(curl: Curl, model: AllowanceModel, seconds: number): Promise<void> {
  model.advance(model.now + 1000 * seconds);
  await curl.at(model.now);
  expect(codeOf(await curl.post(`/allowance-waiters/${scopeId}/cancel`))).to.equal('404 WAITER_NOT_FOUND');
}

describe('allowance model', () => {
  it('grants at most unitsLimit per window, in arrival order, after every step of any sequence', async function () {
    this.timeout(longMs);
    await trySequences({
      ...{
        first: fc.constant(null),
        step,
        maxLength: 40,
        examples: [
          [null, everything],
          [null, settlements],
        ],
        outcomes,
        met,
      },
      run: async (curl, _, now, __, sequence) => {
        const model = new AllowanceModel();
        model.now = now;
        const { body } = await curl.post('/allowances', { name: 'a', unitsLimit: 5, windowSeconds: 10 });
        const pair = new AllowancePair(curl, model, body.id);
        for (const one of sequence) {
          if (one.do === 'pass') await moveBy(curl, model, one.seconds);
          else if (one.do === 'again') await curl.again(one.index);
          else await pair.take(one);
          await pair.compare();
        }
        await pair.end();
      },
    });
  });
});
