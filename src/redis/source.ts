import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ReplyMember, readMember } from '../declare/reply.ts';

/** Where the Lua files are, from src/ and from dist/ alike. */
export const luaRoot = fileURLToPath(new URL('../../lua/', import.meta.url));

/** Folders of rooms whose scripts are not in `luaRoot`, by room. */
export type Folders = Readonly<Record<string, string>>;

/** A Lua file: its header, and the code below it. */
export interface Source {
  /** The `---` lines of its head that are no directives. */
  readonly says: string;
  readonly args: readonly string[];
  /** The last of them: each travels by itself, because taking it out of a text would hash it once more. */
  readonly long: readonly string[];
  /** Takes the arguments of several calls one after the other, and then answers a list. */
  readonly gathers: boolean;
  /** A function of this file that runs the bodies of the scripts that include it. */
  readonly around: string | undefined;
  readonly includes: readonly string[];
  /** The record whose table this file fills. */
  readonly records: readonly string[];
  /** The table into which files put functions that are called without being named. */
  readonly registry: string | undefined;
  readonly reply: readonly ReplyMember[];
  readonly body: string;
  /** The number in the file of each line of `body`. */
  readonly lines: readonly number[];
}

const directive = /^--- @(args|long|include|around|gather|record|registry|reply)\b\s*(.*)$/;

/** Every Lua file as `room/name`, sorted, and where it is. */
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

/** What becomes a function, and is no helper. */
export function isScript(file: string): boolean {
  return !file.startsWith('lib/') && !file.includes('/_');
}

/** The rooms that have scripts. */
export function roomNames(files = luaFiles()): string[] {
  return [...new Set([...files.keys()].filter(isScript).map((file) => file.split('/', 1)[0] ?? ''))];
}

/** The files that an `@include` names: one, or all whose name ends as the `*` says. */
function resolve(include: string, files: Iterable<string>): string[] {
  return include.startsWith('*') ? [...files].filter((file) => file.endsWith(include.slice(1))) : [include];
}

/** The Lua files of a product, each read once. */
export class Sources {
  readonly files: ReadonlyMap<string, string>;
  readonly #read = new Map<string, Source>();

  constructor(folders: Folders = {}) {
    this.files = luaFiles(folders);
  }

  read(path: string): Source {
    let source = this.#read.get(path);
    if (!source) {
      source = readSource(path, this.files.keys());
      this.#read.set(path, source);
    }
    return source;
  }
}

/** Reads a file; `files` are all there are, for includes that name several. */
export function readSource(path: string, files: Iterable<string>): Source {
  const says: string[] = [];
  const values: Record<string, string[]> = {};
  const body: string[] = [];
  const lines: number[] = [];
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const [, kind, value = ''] = directive.exec(line) ?? [];
    if (kind !== undefined) {
      const words = value.replaceAll('"', '').trim();
      values[kind] = [...(values[kind] ?? []), ...(words === '' ? [] : words.split(/\s+/))];
    } else if (line.startsWith('--- ') && body.length === 0) says.push(line.slice(4));
    else if (!/^\s*(--.*)?$/.test(line)) {
      body.push(line);
      lines.push(index + 1);
    }
  }
  const of = (kind: string): string[] => values[kind] ?? [];
  return {
    says: says.join(' '),
    args: of('args'),
    long: of('long'),
    gathers: 'gather' in values,
    around: of('around')[0],
    includes: of('include').flatMap((include) => resolve(include, files)),
    records: of('record'),
    registry: of('registry')[0],
    reply: of('reply').map(readMember),
    body: body.join('\n'),
    lines,
  };
}
