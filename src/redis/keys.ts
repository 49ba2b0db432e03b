import { lineBreaks } from './lua-text.ts';

/**
 * The one table of Redis keys. Each room declares its own in `keys.ts`; from the declarations come the Lua builders
 * (expanded by the loader), the TypeScript builders and the operators' table in lua/README.md.
 */
export interface KeyDeclaration {
  /** e.g. `muster:{org}:<spaceNumber>:mailbox:<mailboxId>`; `{org}` is the hash tag, `<name>` a variable part. */
  readonly pattern: string;
  readonly type: 'hash' | 'zset' | 'list' | 'stream' | 'string' | 'set';
  /** What it holds: for a hash its fields, otherwise its members and scores. */
  readonly holds: string;
  /** When it goes away. */
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

/** What scripts know of a key's beginning: of the organization, of the space's record, of everything else in the space. */
const beginnings = [
  ['muster:{org}:<spaceNumber>', 'spaceRoot'],
  ['muster:{org}:<spaceId>', "root .. ':' .. spaceId"],
  ['muster:{org}', 'root'],
] as const;

/** A key's beginning as scripts know it, and the rest of its pattern. */
function beginningOf({ pattern }: KeyDeclaration): [lua: string, rest: string] {
  const [known, lua] = beginnings.find(([start]) => pattern.startsWith(start)) ?? ['', ''];
  return [lua, pattern.slice(known.length)];
}

/** The parts of a key but for the organization and the space, which scripts know. */
export function partsOf(declaration: KeyDeclaration): string[] {
  return [...beginningOf(declaration)[1].matchAll(partOf)].map(([, name = '']) => name);
}

/** The concatenation that a key stands for. */
export function expandKey(declaration: KeyDeclaration, given: readonly string[], call: string): string {
  if (given.length !== partsOf(declaration).length) throw new Error(`${call} does not fit ${declaration.pattern}`);
  let next = 0;
  const [beginning, rest] = beginningOf(declaration);
  const expression = rest.split(partOf).map((part, index) => {
    if (index % 2 === 0) return part === '' ? '' : `'${part}'`;
    return given[next++] ?? '';
  });
  return [beginning, ...expression.filter((part) => part !== '')].join(' .. ');
}

/** Rewrites every `keys.name(argument, …)` of a script: the builders cost nothing at run time. */
export function expandKeys(lua: string, tables: KeyTable, script: string): string {
  return lua.replace(/\bkeys\.(\w+)\(([^()]*)\)/g, (call, name: string, text: string) => {
    const declaration = tables[name];
    if (!declaration?.pattern.startsWith('muster:{org}')) throw new Error(`${script}: ${call} is in no room's keys.ts`);
    const given = text.trim() === '' ? [] : text.split(',').map((part) => part.trim());
    return expandKey(declaration, given, `${script}: ${call}`) + lineBreaks(call);
  });
}
