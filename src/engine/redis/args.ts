import type { Script } from '../library/loader.ts';
import type { Argv } from './gathering.ts';
import { ScriptFailure } from './script-failure.ts';

/** Values of arguments by name. Only long arguments may be buffers. */
export type Values = Readonly<Record<string, string | number | Buffer>>;

/**
 * The arguments of a script. In a list of objects, the first one that has a value wins; copying them into one would cost
 * more.
 */
export type Args = Values | readonly Values[];

export function argOf(args: Args, name: string): string | number | Buffer | undefined {
  if (!isLayered(args)) return args[name];
  for (const values of args) {
    const value = values[name];
    if (value !== undefined) return value;
  }
  return undefined;
}

const isLayered = (args: Args): args is readonly Values[] => Array.isArray(args);

/** Terminates each argument. Names, keys and headers cannot contain it. */
const terminator = '\0';

/**
 * Packs a call's arguments: the shared ones of an invocation, if any, as one string; the other short ones as one string,
 * which is cheaper than many; then each long one. Rare arguments are at the end of the short ones if any has a value.
 */
export function pack(script: Script, given: Args): Argv {
  const { name, args, shared, rare, long } = script;
  // test/contract checks what routes pass.
  if (!isLayered(given) && Object.keys(given).length > args.length + rare.length)
    throw new ScriptFailure(`${name} takes only ${[...args, ...rare].join(', ')}`);
  const last = args.length - long.length;
  const argv: (string | Buffer)[] = [];
  let text = '';
  for (let index = 0; index < last; index++) {
    const arg = args[index] as string;
    const value = argOf(given, arg) ?? missing(script, arg);
    if (index > 0 && index === shared.length) {
      argv.push(text);
      text = '';
    }
    text += terminated(script, arg, value);
  }
  if (rare.some((arg) => (argOf(given, arg) ?? '') !== ''))
    for (const arg of rare) text += terminated(script, arg, argOf(given, arg) ?? '');
  argv.push(text);
  for (const arg of long) {
    const value = argOf(given, arg) ?? missing(script, arg);
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
