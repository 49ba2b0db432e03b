import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expandKeys, type KeyTable } from './keys.ts';

/** The scripts of one room as Redis gets them: a function library, named by its content. */
export interface Library {
  readonly text: string;
  /** What every function's name ends with: `mailbox_send_<version>`. Two versions live side by side in one server. */
  readonly version: string;
  readonly scripts: ReadonlyMap<string, Script>;
}

export interface Script {
  /** `mailbox/send` */
  readonly name: string;
  /** The function that FCALL names. */
  readonly functionName: string;
  /** In the order in which they travel, as one text, and after it the long ones. */
  readonly args: readonly string[];
  /** The last of them: each travels by itself, because taking it out of a text would hash it once more. */
  readonly long: readonly string[];
  /** Takes the arguments of several calls one after the other, and then answers a list. */
  readonly gathers: boolean;
}

/** Where the Lua files are, from src/ and from dist/ alike. */
export const luaRoot = fileURLToPath(new URL('../../lua/', import.meta.url));

/** Replaces a file by another: the test clock takes the place of lib/clock. */
export type Overrides = Readonly<Record<string, string>>;

export const directive = /^--- @(args|long|include|around|gather)\b\s*(.*)$/;

interface Source {
  /** A function of this file that runs the bodies of the scripts that include it. */
  readonly around: string | undefined;
  readonly gathers: boolean;
  /** `['name.begin']` where the file has such a function: what it keeps for a call begins anew with each. */
  readonly begin: readonly string[];
  readonly args: readonly string[];
  readonly long: readonly string[];
  readonly includes: readonly string[];
  readonly body: string;
}

/**
 * Builds the library of `lua/<room>/`. Files of lib/ and `_helper` files run once, when Redis loads the library: each is
 * put in front of its first user, circular includes are refused by name. Every other file is a script and becomes a
 * function. `@args` of a helper are set anew by each call of a script that includes it, those of a script are its
 * locals; an argument named twice is refused. `guard` is what every function begins with.
 */
export function loadLibrary(room: string, keys: KeyTable, overrides: Overrides = {}, guard = ''): Library {
  const files = luaFiles();
  const sources = new Map<string, Source>();
  const read = (file: string): Source => {
    const known = sources.get(file);
    if (known) return known;
    const source = parse(readFileSync(overrides[file] ?? join(luaRoot, `${file}.lua`), 'utf8'), files, file, keys);
    sources.set(file, source);
    return source;
  };

  const helpers: string[] = [];
  const sharedArgs = new Set<string>();
  const place = (file: string, chain: readonly string[]): string[] => {
    if (chain.includes(file)) throw new Error(`circular include: ${[...chain, file].join(' > ')}`);
    const source = read(file);
    const below = source.includes.flatMap((other) => place(other, [...chain, file]));
    if (!helpers.includes(file)) helpers.push(file);
    for (const arg of source.args) sharedArgs.add(arg);
    return [...below, file];
  };

  const functions: string[] = [];
  const scripts = new Map<string, Script>();
  for (const name of files.filter((file) => isScript(file) && file.startsWith(`${room}/`))) {
    const source = read(name);
    const below = [...new Set(source.includes.flatMap((file) => place(file, [name])))];
    const shared = [...new Set(below.flatMap((file) => read(file).args))];
    const begins = below.flatMap((file) => read(file).begin);
    const args = [...shared, ...source.args, ...source.long];
    const twice = args.find((arg, index) => args.indexOf(arg) !== index);
    if (twice !== undefined) throw new Error(`${name}: argument ${twice} is declared twice`);
    const functionName = `${name.replace('/', '_')}_@version@`;
    scripts.set(name, { name, functionName, args, long: source.long, gathers: source.gathers });
    const around = below.map((file) => read(file).around).find((one) => one !== undefined);
    functions.push(toFunction(functionName, guard, shared, begins, source, around));
  }
  const declared = sharedArgs.size > 0 ? `local ${[...sharedArgs].join(', ')}\n` : '';
  const body = [declared, ...helpers.map((file) => `${read(file).body}\n`), ...functions].join('');
  const draft = `local root, run\n${body}`;
  const version = createHash('sha256').update(draft).digest('hex').slice(0, 8);
  return {
    version,
    text: `#!lua name=muster_${room}_${version}\n${draft.replaceAll('@version@', version)}`,
    scripts: new Map(
      [...scripts].map(([name, script]) => [
        name,
        { ...script, functionName: script.functionName.replace('@version@', version) },
      ]),
    ),
  };
}

function parse(text: string, files: readonly string[], file: string, keys: KeyTable): Source {
  const args: string[] = [];
  const long: string[] = [];
  const includes: string[] = [];
  const body: string[] = [];
  let around: string | undefined;
  let gathers = false;
  for (const line of text.split('\n')) {
    const [, kind, value = ''] = directive.exec(line) ?? [];
    if (kind === 'args') args.push(...value.trim().split(/\s+/));
    else if (kind === 'long') long.push(...value.trim().split(/\s+/));
    else if (kind === 'around') around = value;
    else if (kind === 'gather') gathers = true;
    else if (kind === 'include') includes.push(...resolve(value.replaceAll('"', '').trim(), files));
    else if (!/^\s*(--.*)?$/.test(line)) body.push(line);
  }
  const code = expandKeys(body.join('\n'), keys, file).replaceAll('redis.call(', 'run(');
  return {
    args,
    long,
    includes,
    around,
    gathers,
    body: code,
    begin: /^function (\w+\.begin)\(/m.exec(code)?.slice(1) ?? [],
  };
}

/**
 * A script's function: lets the helpers begin anew, takes its arguments apart, then does what its file says; where a
 * helper names a function to go around it, as often as that one wants, from argument `offset + 1` on.
 */
function toFunction(
  functionName: string,
  guard: string,
  shared: readonly string[],
  begins: readonly string[],
  { args, long, body: own }: Source,
  around: string | undefined,
): string {
  const packed = [...shared, ...args];
  const nth = (n: number): string => (around === undefined ? `args[${n}]` : `args[offset + ${n}]`);
  const body: string[] = [];
  if (args.length > 0) body.push(`local ${args.join(', ')}`);
  if (packed.length > 0) body.push(`${packed.join(', ')} = struct.unpack('${'s'.repeat(packed.length)}', ${nth(1)})`);
  body.push(...long.map((arg, index) => `local ${arg} = ${nth(index + 2)}`));
  body.push(own);
  const head = [
    `redis.register_function('${functionName}', function(keys, args)`,
    'root, run = keys[1], redis.call',
    ...(guard === '' ? [] : [guard]),
    ...begins.map((begin) => `${begin}()`),
  ];
  if (around === undefined) return [...head, ...body, 'end)\n'].join('\n');
  const bodyName = `${functionName}_body`;
  return [
    `local function ${bodyName}(args, offset)`,
    ...body,
    'end',
    ...head,
    `return ${around}(args, ${1 + long.length}, ${bodyName})`,
    'end)\n',
  ].join('\n');
}

/** The files that an `@include` names: one, or all whose name ends as the `*` says. */
export function resolve(include: string, files: readonly string[]): string[] {
  return include.startsWith('*') ? files.filter((file) => file.endsWith(include.slice(1))) : [include];
}

/** Every Lua file as `room/name`, sorted. */
export function luaFiles(): string[] {
  return readdirSync(luaRoot, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => path.slice(0, -'.lua'.length))
    .sort();
}

/** The rooms that have scripts. */
export function roomNames(): string[] {
  return [
    ...new Set(
      luaFiles()
        .filter(isScript)
        .map((file) => file.split('/', 1)[0] ?? ''),
    ),
  ];
}

/** What becomes a function, and is no helper. */
export function isScript(file: string): boolean {
  return !file.startsWith('lib/') && !file.includes('/_');
}
