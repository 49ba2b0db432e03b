import { readArgs } from '../options.ts';

const NUMBERS = {
  rounds: {
    default: 3,
    min: 1,
    whole: true,
    says: 'rounds of each side in turn; every figure is the median over them',
  },
  seconds: { default: 5, min: 1, says: 'seconds of a round' },
  connections: { default: 16, min: 1, whole: true, says: 'connections, each with a lock of its own' },
  waiters: { default: 200, min: 2, whole: true, says: 'holds that wait for one pool' },
} as const;

export type Options = Record<keyof typeof NUMBERS, number>;

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench:locks', NUMBERS, {}, args);
}
