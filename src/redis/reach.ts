import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { directive, isScript, luaFiles, luaRoot, resolve } from './loader.ts';

/** What can run when a script is called: the sources themselves say which keys it writes and what it refuses. */
export interface Reach {
  /** `mailbox/send` */
  readonly name: string;
  /** The `---` lines of its head. */
  readonly says: string;
  /** Files it includes, directly or not. */
  readonly includes: readonly string[];
  /** Its own code and that of every helper function it can come to, without comments. */
  readonly code: string;
}

interface LuaFile {
  readonly says: string;
  readonly includes: readonly string[];
  /** What is outside named functions: runs, or is registered for a later call. */
  readonly body: string;
  readonly functions: ReadonlyMap<string, string>;
}

/** Every script of lua/, by name, in order. */
export function reaches(): readonly Reach[] {
  const files = luaFiles();
  const sources = new Map(files.map((file) => [file, parse(file, files)]));
  return files.filter(isScript).map((name) => {
    const includes = closure(name, sources);
    const says = sources.get(name)?.says ?? '';
    return {
      name,
      says,
      includes,
      code: reachable([name, ...includes].flatMap((file) => sources.get(file) ?? [])),
    };
  });
}

function parse(file: string, files: readonly string[]): LuaFile {
  const says: string[] = [];
  const includes: string[] = [];
  const body: string[] = [];
  const functions = new Map<string, string>();
  let open = '';
  for (const line of readFileSync(join(luaRoot, `${file}.lua`), 'utf8').split('\n')) {
    const [, kind, value = ''] = directive.exec(line) ?? [];
    if (kind === 'include') includes.push(...resolve(value.replaceAll('"', '').trim(), files));
    else if (kind === 'around') body.push(value);
    else if (kind === undefined && line.startsWith('--- ') && body.length === 0 && functions.size === 0)
      says.push(line.slice(4));
    if (/^\s*(--.*)?$/.test(line)) continue;
    open ||= /^(?:local )?function ([\w.]+)\(/.exec(line)?.[1] ?? '';
    if (open === '') body.push(line);
    else functions.set(open, `${functions.get(open) ?? ''}${line}\n`);
    if (/^end\b/.test(line) || /^(?:local )?function .*\bend$/.test(line)) open = '';
  }
  return { says: says.join(' '), includes, body: `${body.join('\n')}\n`, functions };
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

/** The files' own code, and of their functions those that it names, or that those name. */
function reachable(files: readonly LuaFile[]): string {
  const left = new Map(files.flatMap((file) => [...file.functions]));
  let code = files.map((file) => file.body).join('');
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const [name, text] of left) {
      const named = new RegExp(`(?<![\\w.])${name.replace('.', '\\.')}(?!\\w)`);
      if (!name.endsWith('.begin') && !named.test(code)) continue;
      code += text;
      left.delete(name);
    }
  }
  return code;
}
