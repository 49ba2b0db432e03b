import { availableParallelism, constants, cpus } from 'node:os';
import { type ParseArgsConfig, parseArgs } from 'node:util';

interface NumberOption {
  readonly default: number;
  readonly min: number;
  readonly max?: number;
  readonly whole?: true;
  readonly says: string;
}

/** A comma-separated list, of known words or of numbers. */
interface ListOption {
  readonly default: string;
  readonly known: readonly string[] | 'numbers';
  /** "none" is an empty list. */
  readonly mayBeNone?: true;
  readonly says: string;
}

/**
 * Reads a benchmark's command line. Returns the help text if it asks for help; throws an Error for an invalid option.
 */
export function readArgs<Numbers extends string, Lists extends string>(
  command: string,
  numbers: Readonly<Record<Numbers, NumberOption>>,
  lists: Readonly<Record<Lists, ListOption>>,
  args: string[],
): (Record<Numbers, number> & Record<Lists, string[]>) | string {
  const texts = Object.entries<NumberOption | ListOption>({ ...numbers, ...lists });
  const options: ParseArgsConfig['options'] = { help: { type: 'boolean' } };
  for (const [name, option] of texts) options[name] = { type: 'string', default: String(option.default) };
  const { values } = parseArgs({ args, options });
  if (values['help']) {
    const flag = (name: string, option: object) => `--${name} ${'known' in option ? '<a,b>' : '<n>'}`.padEnd(22);
    const lines = texts.map(([name, option]) => `  ${flag(name, option)}${option.says} (${option.default})`);
    return [`npm run ${command} -- [options]`, '', ...lines].join('\n');
  }
  const read: Record<string, number | string[]> = {};
  for (const [name, option] of texts) {
    const text = String(values[name]);
    read[name] = 'known' in option ? listOf(name, option, text) : numberOf(name, option, text);
  }
  return read as Record<Numbers, number> & Record<Lists, string[]>;
}

function numberOf(name: string, { min, max = Infinity, whole }: NumberOption, text: string): number {
  const value = Number(text);
  if (value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
  const bounds = max === Infinity ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new Error(`--${name} must be a ${whole ? 'whole ' : ''}number ${bounds}, not "${text}"`);
}

function listOf(name: string, { known, mayBeNone }: ListOption, text: string): string[] {
  if (mayBeNone && text === 'none') return [];
  const list = text.split(',');
  if (known === 'numbers') {
    if (list.every((one) => Number(one) > 0)) return list;
    throw new Error(`--${name} must be a comma list of numbers, not "${text}"`);
  }
  const unknown = list.find((one) => !known.includes(one));
  if (unknown !== undefined) throw new Error(`--${name} knows ${known.join(', ')}, not "${unknown}"`);
  return list;
}

/** Runs a benchmark, or prints the help text. A signal stops everything that the benchmark has started. */
export async function start<Options>(
  options: Options | string,
  bench: (options: Options) => Promise<void>,
  cleanUp: () => Promise<void>,
): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => void cleanUp().finally(() => process.exit(128 + constants.signals[signal])));
  if (typeof options === 'string') console.log(options);
  else await bench(options);
}

/** The machine that the figures are from. */
export function machine(): string {
  return `node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown processor'}`;
}
