import { addNames } from '../../../src/redis/lua-unused.ts';
import type { Folders } from '../../../src/redis/source.ts';
import { isScript, luaFiles, readSource } from '../../../src/redis/source.ts';

/** The code that can run in a script: it shows which keys the script writes and what it refuses. */
export interface Reach {
  /** `mailbox/send` */
  readonly name: string;
  /** The `---` lines of its header. */
  readonly summary: string;
  /** Files it includes, directly or not. */
  readonly includes: readonly string[];
  /** Its code and that of every helper function it can reach, without comments. */
  readonly code: string;
}

interface LuaFile {
  readonly summary: string;
  readonly includes: readonly string[];
  /** The code outside of named functions: it runs, or is registered for a later call. */
  readonly body: string;
  readonly functions: ReadonlyMap<string, string>;
}

/** Every script, by name, in order. */
export function reaches(folders: Folders = {}): readonly Reach[] {
  const files = luaFiles(folders);
  const sources = new Map([...files].map(([file, path]) => [file, parse(path, files.keys())]));
  return [...files.keys()].filter(isScript).map((name) => {
    const includes = closure(name, sources);
    const summary = sources.get(name)?.summary ?? '';
    const code = reachable([name, ...includes].flatMap((file) => sources.get(file) ?? []));
    return { name, summary, includes, code };
  });
}

function parse(path: string, files: Iterable<string>): LuaFile {
  const { summary, includes, around, body: code } = readSource(path, files);
  const body: string[] = around === undefined ? [] : [around];
  const functions = new Map<string, string>();
  let open = '';
  for (const line of code.split('\n')) {
    open ||= /^(?:local )?function ([\w.]+)\(/.exec(line)?.[1] ?? '';
    if (open === '') body.push(line);
    else functions.set(open, `${functions.get(open) ?? ''}${line}\n`);
    if (/^end\b/.test(line) || /^(?:local )?function .*\bend$/.test(line)) open = '';
  }
  return { summary, includes, body: `${body.join('\n')}\n`, functions };
}

function closure(name: string, sources: ReadonlyMap<string, LuaFile>): string[] {
  const found = new Set<string>();
  const add = (file: string): void => {
    for (const include of sources.get(file)?.includes ?? []) {
      if (found.has(include)) continue;
      found.add(include);
      add(include);
    }
  };
  add(name);
  return [...found];
}

/** The files' code, and the functions that it uses, directly or not. */
function reachable(files: readonly LuaFile[]): string {
  const left = new Map(files.flatMap((file) => [...file.functions]));
  let code = files.map((file) => file.body).join('');
  const names = new Set<string>();
  addNames(code, names);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [name, text] of left) {
      if (!name.endsWith('.begin') && !names.has(name)) continue;
      code += text;
      addNames(text, names);
      left.delete(name);
    }
  }
  return code;
}
