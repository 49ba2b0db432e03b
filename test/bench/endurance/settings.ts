import { readArgs } from '../options.ts';

const NUMBERS = {
  minutes: { default: 120, min: 1, whole: true, says: 'minutes under load' },
  load: { default: 50, min: 1, max: 100, says: 'per cent of the calls a second that the machine can answer' },
  clients: { default: 16, min: 1, whole: true, says: 'concurrent clients' },
  warm: { default: 30, min: 1, says: 'seconds at full load before: first to warm up, then as many to measure it' },
} as const;

export type Options = Record<keyof typeof NUMBERS, number>;

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  return readArgs('bench:endurance', NUMBERS, {}, args);
}
