import { parseArgs } from 'node:util';
import { ROWS } from './rows.ts';

export interface Options {
  messages: number;
  rounds: number;
  connections: number;
  only: string[];
}

const NUMBERS = {
  messages: { default: '20000', says: 'messages sent, received and completed in each round of each row' },
  rounds: { default: '3', says: 'rounds; every result is the median over them' },
  connections: { default: '50', says: 'HTTP connections, and in process messages under way at once' },
} as const;
type NumberName = keyof typeof NUMBERS;
const NAMES = Object.keys(NUMBERS) as NumberName[];
const KNOWN = Object.keys(ROWS);

const HELP = [
  'npm run bench:peers -- [options]',
  '',
  ...NAMES.map((name) => `  ${`--${name} <n>`.padEnd(18)}${NUMBERS[name].says} (${NUMBERS[name].default})`),
  `  ${'--only <a,b>'.padEnd(18)}a comma list of ${KNOWN.join(', ')} (all)`,
].join('\n');

/** Reads the command line; answers the text to print where help is asked for. */
export function readOptions(args: string[]): Options | string {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args,
    options: {
      messages: text(NUMBERS.messages.default),
      rounds: text(NUMBERS.rounds.default),
      connections: text(NUMBERS.connections.default),
      only: text(KNOWN.join(',')),
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return HELP;
  const number = (name: NumberName) => {
    const value = Number(values[name]);
    if (Number.isInteger(value) && value >= 1) return value;
    throw new Error(`--${name} must be a whole number of at least 1, not "${values[name]}"`);
  };
  const only = values.only.split(',');
  const unknown = only.find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) throw new Error(`--only knows ${KNOWN.join(', ')}, not "${unknown}"`);
  return { messages: number('messages'), rounds: number('rounds'), connections: number('connections'), only };
}
