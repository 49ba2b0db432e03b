import type { Script } from '../library/loader.ts';
import type { Argv } from './gathering.ts';
import { ScriptFailure } from './script-failure.ts';

/** The arguments of a script by name. Only long arguments may be buffers. */
export type Args = Readonly<Record<string, string | number | Buffer>>;

/** Terminates each argument. Names, keys and headers cannot contain it. */
const terminator = '\0';

/**
 * Packs a call's arguments: the shared ones of an invocation, if any, as one string; the other short ones as one string,
 * which is cheaper than many; then each long one. Rare arguments are at the end of the short ones if any has a value.
 */
export function pack(script: Script, given: Args): Argv {
  const { name, args, shared, rare, long } = script;
  if (Object.keys(given).length > args.length + rare.length)
    throw new ScriptFailure(`${name} takes only ${[...args, ...rare].join(', ')}`);
  const last = args.length - long.length;
  const argv: (string | Buffer)[] = [];
  let text = '';
  for (let index = 0; index < last; index++) {
    const arg = args[index] as string;
    if (index > 0 && index === shared.length) {
      argv.push(text);
      text = '';
    }
    text += terminated(script, arg, given[arg] ?? missing(script, arg));
  }
  if (rare.some((arg) => (given[arg] ?? '') !== ''))
    for (const arg of rare) text += terminated(script, arg, given[arg] ?? '');
  argv.push(text);
  for (const arg of long) {
    const value = given[arg] ?? missing(script, arg);
    argv.push(typeof value === 'number' ? String(value) : value);
  }
  return argv;
}

function terminated({ name }: Script, arg: string, value: string | number | Buffer): string {
  if (typeof value === 'object') throw new ScriptFailure(`${name}: argument ${arg} is binary`);
  if (typeof value === 'string' && value.includes(terminator))
    throw new ScriptFailure(`${name}: argument ${arg} contains a NUL`);
  return value + terminator;
}

function missing({ name }: Script, arg: string): never {
  throw new ScriptFailure(`${name}: argument ${arg} is missing`);
}
