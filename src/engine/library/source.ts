import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { packagePath } from '../../package.ts';
import { type ReplyMember, readMember } from '../declare/reply.ts';
import { assigned, type Edit, parseLua, type Syntax, walk } from './lua-syntax.ts';

export const luaRoot = packagePath('lua/');

/** The folders, by room, of rooms whose scripts are outside `luaRoot`. */
export type Folders = Readonly<Record<string, string>>;

/**
 * The kinds of scripts by their calls (lua/lib/call): requests that write or read, requests without a space, and tasks of
 * workers.
 */
export type RequestKind = 'write' | 'read' | 'org' | 'worker';
const requestKinds = ['write', 'read', 'org', 'worker'];

/** A parsed Lua file: its header and its code. */
export interface LuaSource {
  /** `mailbox/send` */
  readonly file: string;
  readonly path: string;
  /** The `---` lines of its header without the directives. */
  readonly summary: string;
  readonly args: readonly string[];
  /** A helper's arguments that the calls of an invocation mostly share. They are sent as a string of their own. */
  readonly shared: readonly string[];
  /** Arguments that few calls have. They follow the other short ones if a call has any, and are '' otherwise. */
  readonly rare: readonly string[];
  /** The last arguments, each sent as a string of its own. In a common string, Lua would hash each of them once more. */
  readonly long: readonly string[];
  /** Takes the arguments of several calls one after the other, and replies with a list. */
  readonly gathers: boolean;
  /** Runs even if the store is full, as it frees memory. */
  readonly allowsFull: boolean;
  /** The kind of its requests; undefined if it answers none. */
  readonly request: RequestKind | undefined;
  /** Its caller has a link instead of an API key. */
  readonly isLinked: boolean;
  /** Fields of the space's record that it reads. */
  readonly spaceFields: readonly string[];
  readonly includes: readonly string[];
  /** The names that other files may use, registries included. */
  readonly exports: readonly string[];
  /** Exports that change after the library was loaded. */
  readonly variables: readonly string[];
  /** The tables that other files may add members to. */
  readonly registries: readonly string[];
  /** The records whose tables this file has. */
  readonly records: readonly string[];
  readonly reply: readonly ReplyMember[];
  readonly text: string;
  /** The code's syntax tree, with ranges in `text`. */
  readonly body: readonly Syntax[];
  /** Parts of the code that are left out: comments, and declarations of variables. */
  readonly edits: readonly Edit[];
}

const directive = /^--- @(\w+)\s*(.*)$/;
const directives = 'args rare long include export gather full record registry reply request shared space'.split(' ');

/** The paths of all Lua files by `room/name`, sorted. */
export function luaFiles(folders: Folders = {}): ReadonlyMap<string, string> {
  const inFolder = (folder: string, prefix: string): [string, string][] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.lua'))
      .map((path) => [prefix + path.slice(0, -'.lua'.length), join(folder, path)]);
  const all = [
    ...inFolder(luaRoot, ''),
    ...Object.entries(folders).flatMap(([room, folder]) => inFolder(folder, `${room}/`)),
  ];
  return new Map(all.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether a file becomes a function; the others are helpers. */
export function isScript(file: string): boolean {
  return !file.startsWith('lib/') && !file.includes('/_');
}

export function roomNames(files = luaFiles()): string[] {
  return [...new Set([...files.keys()].filter(isScript).map((file) => file.split('/', 1)[0] ?? ''))];
}

/** A file and line for messages, `lua/mailbox/send.lua:12`; line 0 for just the file. */
export function originOf(path: string, line: number): string {
  return relative(join(luaRoot, '..'), path) + (line > 0 ? `:${line}` : '');
}

/** An error at a position in a source file. */
export function errorAt(source: Pick<LuaSource, 'path' | 'text'>, at: number, message: string): Error {
  return new Error(`${originOf(source.path, source.text.slice(0, at).split('\n').length)}: ${message}`);
}

/** Parses a file: the directives in its header, then its code. */
export function readSource(file: string, path: string): LuaSource {
  const text = readFileSync(path, 'utf8');
  const chunk = parsed(path, text);
  const body = chunk.body as Syntax[];
  const codeAt = body[0]?.range[0] ?? text.length;
  const summary: string[] = [];
  const values: Record<string, string[]> = {};
  for (const { range } of chunk.comments) {
    const comment = text.slice(...range);
    const [, kind, value = ''] = directive.exec(comment) ?? [];
    if (kind === undefined) {
      if (comment.startsWith('--- ') && range[1] <= codeAt) summary.push(comment.slice(4));
      continue;
    }
    if (!directives.includes(kind)) throw errorAt({ path, text }, range[0], `there is no directive @${kind}`);
    if (range[0] > codeAt) throw errorAt({ path, text }, range[0], `@${kind} must stand above the code`);
    const words = value.trim();
    values[kind] = [...(values[kind] ?? []), ...(words === '' ? [] : words.split(/\s+/))];
  }
  const of = (kind: string): string[] => values[kind] ?? [];
  const [kind = 'write', caller = ''] = of('request');
  if (!['', 'link'].includes(caller))
    throw errorAt({ path, text }, 0, `@request ${kind} ${caller}: it is link or nothing`);
  if (!requestKinds.includes(kind))
    throw errorAt({ path, text }, 0, `@request ${kind}: it is ${requestKinds.join(', ')}`);
  const exported = [...of('export'), ...of('registry')];
  const variables = variablesOf(body, exported);
  return {
    file,
    path,
    summary: summary.join(' '),
    args: [...of('shared'), ...of('args')],
    shared: of('shared'),
    rare: of('rare'),
    long: of('long'),
    gathers: 'gather' in values,
    allowsFull: 'full' in values,
    request: 'request' in values ? (kind as RequestKind) : undefined,
    isLinked: caller === 'link',
    spaceFields: of('space'),
    includes: of('include'),
    exports: exported,
    variables: [...variables, ...(isScript(file) ? [] : [...of('shared'), ...of('args'), ...of('rare')])],
    registries: of('registry'),
    records: of('record'),
    reply: of('reply').map(readMember),
    text,
    body,
    edits: [
      ...chunk.comments.map(({ range: [from, to] }) => ({ from, to, text: '' })),
      ...declarations({ path, text }, body, variables),
    ],
  };
}

function parsed(path: string, text: string): ReturnType<typeof parseLua> {
  try {
    return parseLua(text);
  } catch (error) {
    const { message, line = 0 } = error as Error & { line?: number };
    throw new Error(`${originOf(path, line)}: ${message.replace(/^\[\d+:\d+\] /, '')}`);
  }
}

/** The exported names that the code assigns outside their declaration. */
function variablesOf(body: readonly Syntax[], exported: readonly string[]): string[] {
  const found = new Set<string>();
  walk(body, (node) => {
    if (node.type !== 'AssignmentStatement') return;
    for (const target of node.variables) {
      const { name = '', member } = assigned(target as Syntax) ?? {};
      if (member === undefined && exported.includes(name)) found.add(name);
    }
  });
  return exported.filter((name) => found.has(name));
}

/** Removes the declarations of variables, which the library declares above all files. */
function declarations(
  place: Pick<LuaSource, 'path' | 'text'>,
  body: readonly Syntax[],
  variables: readonly string[],
): Edit[] {
  return body.flatMap((node) => {
    if (node.type !== 'LocalStatement') return [];
    const names = node.variables.map(({ name }) => name);
    const shared = names.filter((name) => variables.includes(name));
    if (shared.length === 0) return [];
    if (shared.length < names.length || node.init.length > 0)
      throw errorAt(place, node.range[0], `${shared.join(', ')} must be declared by themselves, without a value`);
    return [{ from: node.range[0], to: node.range[1], text: '' }];
  });
}
