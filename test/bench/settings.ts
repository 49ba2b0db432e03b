import { CONTENDERS } from './contenders/all.ts';
import { readArgs } from './options.ts';

/** A part of the run that --only can name, although it is not a contender. */
export const QUEUED = 'queued';

export interface Options {
  rounds: number;
  seconds: number;
  connections: number;
  spaces: number;
  /** Messages queued in the last part. */
  queued: number;
  only: string[];
}

const PARTS = [...Object.keys(CONTENDERS), QUEUED];
const NUMBERS = {
  rounds: { default: 3, min: 1, says: 'rounds; every result is the median over them' },
  seconds: { default: 3, min: 0.5, says: 'seconds of each phase in a round' },
  connections: { default: 50, min: 1, says: 'HTTP connections at once' },
  spaces: { default: 16, min: 1, says: 'spaces that Muster is driven over; each takes 100,000 requests a minute' },
  queued: { default: 1_000_000, min: 0, says: 'messages queued at the most, in the part "queued"' },
};
const ONLY = { default: PARTS.join(','), known: PARTS, says: 'the parts to run' };

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench', NUMBERS, { only: ONLY }, args);
}
