import { readArgs } from '../options.ts';
import { attacks } from './attacks.ts';

const NUMBERS = {
  seconds: { default: 8, min: 1, says: 'seconds of each attack, and of its base' },
  pause: { default: 10, min: 0, says: 'milliseconds between two rounds of the quiet organization' },
} as const;
const names = Object.keys(attacks);
const ONLY = { default: names.join(), known: names, says: 'the attacks to run' };

export type Options = Record<keyof typeof NUMBERS, number> & { readonly only: string[] };

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench:fair', NUMBERS, { only: ONLY }, args);
}
