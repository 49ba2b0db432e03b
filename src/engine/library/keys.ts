/**
 * A Redis key. Each room declares its keys in `keys.ts`. The Lua builders (expanded by the loader), the TypeScript builders
 * and the operators' table in lua/README.md are made from these declarations.
 */
export interface KeyDeclaration {
  /** For example `muster:{org}:<spaceNumber>:mailbox:<mailboxId>`: `{org}` is the hash tag, `<name>` a variable part. */
  readonly pattern: string;
  readonly type: 'hash' | 'zset' | 'list' | 'stream' | 'string' | 'set';
  /** Its contents: the fields of a hash, or members and scores. */
  readonly holds: string;
  /** When it is removed. */
  readonly goes: string;
}

export type KeyTable = Readonly<Record<string, KeyDeclaration>>;

const partOf = /<(\w+)>/g;

/** The key's name: `{org}` and every `<part>` filled in. Throws on a missing part. */
export function keyName(declaration: KeyDeclaration, parts: Readonly<Record<string, string>>): string {
  const fill = (name: string): string => {
    const value = parts[name];
    if (value === undefined) throw new Error(`key ${declaration.pattern} needs ${name}`);
    return value;
  };
  return declaration.pattern
    .replace('{org}', () => `{${fill('org')}}`)
    .replace(partOf, (_, name: string) => fill(name));
}

/** Key prefixes, and the variable of lua/lib that holds each during an invocation. */
const prefixes = [
  ['muster:{org}:<spaceNumber>', 'spaceRoot'],
  ['muster:{org}', 'root'],
] as const;

/** The Lua for a key's prefix, and the rest of its pattern. */
function splitPrefix({ pattern }: KeyDeclaration): [lua: string, rest: string] {
  const [known, lua] = prefixes.find(([start]) => pattern.startsWith(start)) ?? ['', ''];
  return [lua, pattern.slice(known.length)];
}

/** The variable parts of a key except the organization and the number of the current space. */
export function partsOf(declaration: KeyDeclaration): string[] {
  return [...splitPrefix(declaration)[1].matchAll(partOf)].map(([, name = '']) => name);
}

/** The Lua concatenation that builds a key. */
export function expandKey(declaration: KeyDeclaration, given: readonly string[], call: string): string {
  if (given.length !== partsOf(declaration).length)
    throw new Error(`${call} has the wrong number of arguments for ${declaration.pattern}`);
  let next = 0;
  const [prefix, rest] = splitPrefix(declaration);
  const expression = rest.split(partOf).map((part, index) => {
    if (index % 2 === 0) return part === '' ? '' : `'${part}'`;
    return given[next++] ?? '';
  });
  return [prefix, ...expression.filter((part) => part !== '')].join(' .. ');
}
