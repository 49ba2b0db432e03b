import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ReplyMember, readMember } from '../declare/reply.ts';
import { packagePath } from '../package.ts';

/** The folder of the Lua files. */
export const luaRoot = packagePath('lua/');

/** The folders of rooms whose scripts are not in `luaRoot`, by room. */
export type Folders = Readonly<Record<string, string>>;

/** A parsed Lua file: its header, and the code below it. */
export interface Source {
  /** The `---` lines of its header that are not directives. */
  readonly summary: string;
  readonly args: readonly string[];
  /** The last arguments. Each is sent as a string of its own: Lua would hash it once more when it is unpacked. */
  readonly long: readonly string[];
  /** Takes the arguments of several calls one after the other, and then replies with a list. */
  readonly gathers: boolean;
  /** Runs even if the store is full: for work that gives memory back. */
  readonly allowsFull: boolean;
  /** The function of this file that runs the code of the scripts that include it. */
  readonly around: string | undefined;
  readonly includes: readonly string[];
  /** The records whose tables this file has. */
  readonly records: readonly string[];
  /** The table to which files add functions that are called without being named. */
  readonly registry: string | undefined;
  readonly reply: readonly ReplyMember[];
  readonly body: string;
  /** The line number in the file of each line of `body`. */
  readonly lines: readonly number[];
}

const directive = /^--- @(args|long|include|around|gather|full|record|registry|reply)\b\s*(.*)$/;

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

/** The rooms that have scripts. */
export function roomNames(files = luaFiles()): string[] {
  return [...new Set([...files.keys()].filter(isScript).map((file) => file.split('/', 1)[0] ?? ''))];
}

/** The files that an `@include` names: one, or for `*suffix` all whose names end so. */
function resolve(include: string, files: Iterable<string>): string[] {
  return include.startsWith('*') ? [...files].filter((file) => file.endsWith(include.slice(1))) : [include];
}

/** The Lua files of a product, each parsed once. */
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

/** Parses a file. `files`: all file names, for includes with `*`. */
export function readSource(path: string, files: Iterable<string>): Source {
  const summary: string[] = [];
  const values: Record<string, string[]> = {};
  const body: string[] = [];
  const lines: number[] = [];
  for (const [index, line] of readFileSync(path, 'utf8').split('\n').entries()) {
    const [, kind, value = ''] = directive.exec(line) ?? [];
    if (kind !== undefined) {
      const words = value.replaceAll('"', '').trim();
      values[kind] = [...(values[kind] ?? []), ...(words === '' ? [] : words.split(/\s+/))];
    } else if (line.startsWith('--- ') && body.length === 0) summary.push(line.slice(4));
    else if (!/^\s*(--.*)?$/.test(line)) {
      body.push(line);
      lines.push(index + 1);
    }
  }
  const of = (kind: string): string[] => values[kind] ?? [];
  return {
    summary: summary.join(' '),
    args: of('args'),
    long: of('long'),
    gathers: 'gather' in values,
    allowsFull: 'full' in values,
    around: of('around')[0],
    includes: of('include').flatMap((include) => resolve(include, files)),
    records: of('record'),
    registry: of('registry')[0],
    reply: of('reply').map(readMember),
    body: body.join('\n'),
    lines,
  };
}
