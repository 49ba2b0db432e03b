import { readArgs } from '../options.ts';

const NUMBERS = {
  messages: { default: 1000, min: 1, whole: true, says: 'messages of each side, one at a time' },
  pause: { default: 20, min: 0, says: 'milliseconds between two messages' },
} as const;

export type Options = Record<keyof typeof NUMBERS, number>;

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench:latency', NUMBERS, {}, args);
}
