import { parseArgs } from 'node:util';

const NUMBERS = {
  times: { default: '1000', least: 100, says: 'calls of each operation' },
  connections: { default: '50', least: 1, says: 'HTTP connections at once' },
  'payload-bytes': { default: '100', least: 2, says: 'bytes of the payload of a message' },
  'retention-days': { default: '30', least: 0, says: 'days that finished messages are kept' },
  'shard-gib': { default: '64', least: 0.001, says: 'GiB of memory that the data of one shard may fill' },
  seconds: { default: '5', least: 1, says: 'seconds of each step of the simulation' },
} as const;
type NumberName = keyof typeof NUMBERS;
const NAMES = Object.keys(NUMBERS) as NumberName[];
/** 1,000 agents with 5 operations a minute each; 28 million operations a day; a fleet of 20,000 such agents. */
const LOADS = '83.3,324,1667';
const PROCESSES = '1,2';
/** All calls together must stay below the 100,000 a minute that a space takes. */
const MOST_TIMES = 1_500;

export interface Options {
  times: number;
  connections: number;
  payloadBytes: number;
  retentionDays: number;
  shardGib: number;
  seconds: number;
  /** Operations a second, each worked out. */
  loads: number[];
  /** Numbers of API processes, each simulated. */
  simulate: number[];
}

function help(): string {
  const rows = NAMES.map((name) => [`--${name} <n>`, `${NUMBERS[name].says} (${NUMBERS[name].default})`]);
  rows.push(['--loads <a,b>', `operations a second to work out the needs of (${LOADS})`]);
  rows.push([
    '--simulate <a,b>',
    `numbers of API processes to load until they no longer keep up, or "none" (${PROCESSES})`,
  ]);
  const lines = rows.map(([option = '', says = '']) => `  ${option.padEnd(22)}${says}`);
  return ['npm run bench:scale -- [options]', '', ...lines].join('\n');
}

function numbers(name: string, text: string): number[] {
  const list = text.split(',').map(Number);
  if (list.some((value) => !(value > 0))) throw new Error(`--${name} must be a comma list of numbers, not "${text}"`);
  return list;
}

/** Reads the command line; answers the text to print where help is asked for. */
export function readOptions(args: string[]): Options | string {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args,
    options: {
      ...(Object.fromEntries(NAMES.map((name) => [name, text(NUMBERS[name].default)])) as Record<
        NumberName,
        ReturnType<typeof text>
      >),
      loads: text(LOADS),
      simulate: text(PROCESSES),
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return help();
  const number = (name: NumberName, most = Number.POSITIVE_INFINITY) => {
    const value = Number(values[name]);
    if (value >= NUMBERS[name].least && value <= most) return value;
    const bounds = Number.isFinite(most)
      ? `from ${NUMBERS[name].least} to ${most}`
      : `of at least ${NUMBERS[name].least}`;
    throw new Error(`--${name} must be a number ${bounds}, not "${values[name]}"`);
  };
  return {
    times: number('times', MOST_TIMES),
    connections: number('connections'),
    payloadBytes: number('payload-bytes'),
    retentionDays: number('retention-days'),
    shardGib: number('shard-gib'),
    seconds: number('seconds'),
    loads: numbers('loads', values.loads),
    simulate: values.simulate === 'none' ? [] : numbers('simulate', values.simulate),
  };
}
