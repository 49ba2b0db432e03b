import { readArgs } from '../options.ts';
import { ROWS } from './rows.ts';

export interface Options {
  messages: number;
  rounds: number;
  connections: number;
  only: string[];
}

const whole = { min: 1, whole: true } as const;
const NUMBERS = {
  messages: { ...whole, default: 20_000, says: 'messages sent, received and completed in each round of each row' },
  rounds: { ...whole, default: 3, says: 'rounds; every result is the median over them' },
  connections: { ...whole, default: 50, says: 'HTTP connections, and in process messages under way at once' },
};
const KNOWN = Object.keys(ROWS);
const ONLY = { default: KNOWN.join(','), known: KNOWN, says: 'the rows to measure' };

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench:peers', NUMBERS, { only: ONLY }, args);
}
