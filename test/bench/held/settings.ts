import { readArgs } from '../options.ts';

const NUMBERS = {
  held: {
    default: 10_000,
    min: 3,
    whole: true,
    says: 'requests that are held: a third receives, a third waits, a third watches',
  },
  spaces: { default: 100, min: 1, whole: true, says: 'spaces over which they are spread' },
  wakes: { default: 300, min: 1, whole: true, says: 'times that each kind is woken' },
} as const;

export type Options = Record<keyof typeof NUMBERS, number>;

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench:held', NUMBERS, {}, args);
}
