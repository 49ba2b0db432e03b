import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expandKeys, type KeyTable } from './keys.ts';

/** One script as Redis gets it: flattened, with its arguments by name. */
export interface Script {
  readonly name: string;
  readonly text: string;
  readonly sha: string;
  /** ARGV[2], ARGV[3], … in order; ARGV[1] is the script's name. */
  readonly args: readonly string[];
}

/** Where the Lua files are, from src/ and from dist/ alike. */
export const luaRoot = fileURLToPath(new URL('../../lua/', import.meta.url));

/** Replaces an include by another file: the test clock takes the place of lib/clock. */
export type Overrides = Readonly<Record<string, string>>;

const directive = /^--- @(args|include)\s+(.*)$/;

/**
 * Flattens `lua/<name>.lua`: each include once, in the order of first use, `*` for every room that has such a file;
 * the `@args` of all of them become locals. Refuses circular includes, unknown keys and arguments named twice.
 */
export function loadScript(name: string, keys: KeyTable, overrides: Overrides = {}): Script {
  const included = new Set<string>();
  const args: string[] = [];
  const bodies: string[] = [];

  const include = (file: string, chain: readonly string[]): void => {
    if (chain.includes(file)) throw new Error(`circular include: ${[...chain, file].join(' > ')}`);
    if (included.has(file)) return;
    included.add(file);
    const body: string[] = [];
    for (const line of readFileSync(overrides[file] ?? join(luaRoot, `${file}.lua`), 'utf8').split('\n')) {
      const [, kind, value = ''] = directive.exec(line) ?? [];
      if (kind === 'args') args.push(...value.trim().split(/\s+/));
      else if (kind === 'include') for (const other of resolve(value.replaceAll('"', '').trim())) include(other, [...chain, file]);
      else if (!/^\s*(--.*)?$/.test(line)) body.push(line);
      if (kind === 'include' && body.length > 0) bodies.push(body.splice(0).join('\n'));
    }
    if (body.length > 0) bodies.push(body.join('\n'));
  };
  include(name, []);

  const twice = args.find((arg, index) => args.indexOf(arg) !== index);
  if (twice !== undefined) throw new Error(`${name}: argument ${twice} is declared twice`);
  const locals = args.length > 0 ? `local ${args.join(', ')} = unpack(ARGV, 2, ${args.length + 1})\n` : '';
  const text = `#!lua\n${locals}${expandKeys(bodies.join('\n'), keys, name)}\n`;
  return { name, text, args, sha: createHash('sha1').update(text).digest('hex') };
}

function resolve(include: string): string[] {
  if (!include.includes('*')) return [include];
  return luaFiles().filter((file) => file.endsWith(include.slice(1)));
}

/** Every Lua file as `room/name`, sorted. */
function luaFiles(): string[] {
  return readdirSync(luaRoot, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.lua'))
    .map((path) => path.slice(0, -'.lua'.length))
    .sort();
}

/** The names of all scripts: every file that is not a library and not a `_helper`. */
export function scriptNames(): string[] {
  return luaFiles().filter((name) => !name.startsWith('lib/') && !name.includes('/_'));
}
