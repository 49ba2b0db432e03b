import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface Options {
  /** The checkout that is measured. */
  readonly tree: string;
  /** Every figure is the median over them. */
  readonly rounds: number;
  /** Where the figures are written. */
  readonly json: string | undefined;
  /** A file with earlier figures to compare with. */
  readonly against: string | undefined;
}

const ROUNDS = 3;
/**
 * More rounds would exceed the 100,000 requests a minute that a space takes, because the benchmark's clock stays within
 * one minute.
 */
const MOST_ROUNDS = 7;
const HELP = `npm run bench:instructions -- [options]

  --tree <folder>       the checkout to measure, with its own node_modules (this one)
  --rounds <n>          rounds; every figure is the median over them (${ROUNDS})
  --json <file>         write the figures there
  --against <file>      compare with the figures that --json wrote there`;

/** Reads the command line. Returns the help text if it asks for help. */
export function readOptions(args: string[]): Options | string {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    options: { help: { type: 'boolean' }, tree: text, rounds: text, json: text, against: text },
  });
  if (values.help) return HELP;
  const rounds = Number(values.rounds ?? ROUNDS);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > MOST_ROUNDS)
    throw new Error(`--rounds must be a whole number from 1 to ${MOST_ROUNDS}, not "${values.rounds}"`);
  const thisTree = fileURLToPath(new URL('../../../', import.meta.url));
  return { tree: resolve(values.tree ?? thisTree), rounds, json: values.json, against: values.against };
}
