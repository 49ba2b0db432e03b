import { expect } from 'chai';
import fc from 'fast-check';
import { many } from '../support/long.ts';
import { World } from '../support/world.ts';
import { asCurl, type Curl } from './curl.ts';

const runs = many(12, 1000);
/** How many more may be made until all outcomes have come about. */
const maxRuns = 10 * runs;

interface Sequences<First, Step> {
  /** The initial state of a sequence. */
  readonly first: fc.Arbitrary<First>;
  readonly step: fc.Arbitrary<Step>;
  readonly maxLength: number;
  /** Sequences tried in each run, so that their outcomes do not depend on chance. */
  readonly examples?: [First, Step[]][];
  /** The outcomes that all sequences together must produce, and those produced so far. */
  readonly outcomes: readonly string[];
  readonly met: ReadonlySet<string>;
  readonly run: (curl: Curl, world: World, now: number, first: First, sequence: Step[]) => Promise<void>;
}

/** Tries sequences of steps, each in a new world whose clock stands still. */
export async function trySequences<First, Step>(options: Sequences<First, Step>): Promise<void> {
  const { first, step, maxLength, examples = [], outcomes, met, run } = options;
  let steps = 0;
  const sequences = fc.array(step, { maxLength, size: 'max' });
  const property = fc.asyncProperty(first, sequences, async (begins, sequence) => {
    const world = await World.create();
    await asCurl(world, async (curl) => {
      // At a full second that starts a window.
      const now = Math.ceil(Date.now() / 10_000) * 10_000;
      await curl.at(now);
      await run(curl, world, now, begins, sequence);
    });
    steps += sequence.length;
  });
  await fc.assert(property, { numRuns: runs, examples });
  // What has not come about by chance does so later.
  const isMet = () => steps > 10 * runs && outcomes.every((outcome) => met.has(outcome));
  for (let more = 0; more < maxRuns && !isMet(); more += runs) await fc.assert(property, { numRuns: runs });
  expect(steps).to.be.greaterThan(10 * runs);
  expect([...met]).to.include.members([...outcomes]);
}
