import { readArgs } from '../options.ts';

const NUMBERS = {
  organizations: { default: 1000, min: 1, whole: true, says: 'organizations, each with a space' },
  seconds: { default: 60, min: 1, says: 'seconds of each rest, and over which the timers are spread' },
  watches: { default: 100, min: 1, whole: true, says: 'watches that are held' },
  timers: { default: 1000, min: 1, whole: true, says: 'timers, each at a random moment' },
} as const;
const PARTS = ['nothing', 'destinations', 'watches', 'timers'];
const LISTS = { only: { default: PARTS.join(','), known: PARTS, says: 'what to measure' } } as const;

export type Options = Record<keyof typeof NUMBERS, number> & { only: string[] };

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench:idle', NUMBERS, LISTS, args);
}
