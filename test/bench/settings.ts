import { parseArgs } from 'node:util';
import { CONTENDERS } from './contenders/all.ts';

/** The part of the run that is no contender, but that --only can name. */
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
  rounds: { default: '3', least: 1, says: 'rounds; every result is the median over them' },
  seconds: { default: '3', least: 0.5, says: 'seconds of each phase in a round' },
  connections: { default: '50', least: 1, says: 'HTTP connections at once' },
  spaces: { default: '16', least: 1, says: 'spaces that Muster is driven over; each takes 100,000 requests a minute' },
  queued: { default: '1000000', least: 0, says: 'messages queued at the most, in the part "queued"' },
} as const;
const NAMES = Object.keys(NUMBERS) as (keyof typeof NUMBERS)[];

function help(): string {
  const rows = NAMES.map((name) => [`--${name} <n>`, `${NUMBERS[name].says} (${NUMBERS[name].default})`]);
  rows.push(['--only <a,b>', `a comma list of ${PARTS.join(', ')} (all)`], ['--help', 'prints this']);
  const lines = rows.map(([option = '', says = '']) => `  ${option.padEnd(18)}${says}`);
  return ['npm run bench -- [options]', '', ...lines].join('\n');
}

function numberOf(name: keyof typeof NUMBERS, text: string): number {
  const value = Number(text);
  const { least } = NUMBERS[name];
  if (!(value >= least)) throw new Error(`--${name} must be a number of at least ${least}, not "${text}"`);
  return value;
}

/** Reads the command line; answers the text to print where help is asked for. */
export function readOptions(args: string[]): Options | string {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args,
    options: {
      rounds: text(NUMBERS.rounds.default),
      seconds: text(NUMBERS.seconds.default),
      connections: text(NUMBERS.connections.default),
      spaces: text(NUMBERS.spaces.default),
      queued: text(NUMBERS.queued.default),
      only: text(PARTS.join(',')),
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return help();
  const only = values.only.split(',');
  const unknown = only.find((name) => !PARTS.includes(name));
  if (unknown !== undefined) throw new Error(`--only knows ${PARTS.join(', ')}, not "${unknown}"`);
  return {
    rounds: numberOf('rounds', values.rounds),
    seconds: numberOf('seconds', values.seconds),
    connections: numberOf('connections', values.connections),
    spaces: numberOf('spaces', values.spaces),
    queued: numberOf('queued', values.queued),
    only,
  };
}
