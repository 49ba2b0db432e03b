// Lints the Lua files. Scripts get arguments, helpers and records from the loader, so luacheck reads what Redis gets, but
// each script separately: in its room's library, a script could use a helper that only another one includes, without an
// error. Findings have the file and line of the source.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Library, loadLibrary, type Vocabulary } from '../../../src/redis/loader.ts';
import { originOf } from '../../../src/redis/lua-lines.ts';
import { type Folders, luaFiles, readSource } from '../../../src/redis/source.ts';
import { findLuacheck } from './luacheck.ts';

/** The globals of Lua 5.1 that Redis keeps (except os.clock, which no script may use), and those that it adds. */
const globals = [
  ...['--std', 'lua51', '--read-globals', 'redis', 'struct', 'cjson', 'cmsgpack', 'bit'],
  ...['--not-globals', 'arg', 'debug', 'dofile', 'getfenv', 'io', 'loadfile', 'module', 'newproxy', 'os', 'package'],
  ...['print', 'require', 'setfenv'],
];
const output = ['--formatter', 'plain', '--codes', '--no-color', '--no-config', '--no-max-line-length'];
const finding = /^(.+):(\d+):\d+: \(([EW])(\d)\d+\) (.*)$/;

const { compare: byLine } = new Intl.Collator('en', { numeric: true });

/** The findings in these scripts and their includes, as `file:line: what`. */
export async function lint(scripts: readonly string[], words: Vocabulary): Promise<string[]> {
  const libraries = scripts.map((script) => loadLibrary(script, words));
  return [...(await checked(libraries)), ...leftOut(libraries, words.folders)].sort(byLine);
}

async function checked(libraries: readonly Library[]): Promise<string[]> {
  const { command, env } = await findLuacheck();
  const folder = await mkdtemp(join(tmpdir(), 'muster-lint-'));
  try {
    for (const [index, { text }] of libraries.entries()) await writeFile(join(folder, String(index)), text);
    const files = libraries.map((_, index) => join(folder, String(index)));
    const share = Math.ceil(files.length / availableParallelism());
    const shares = Array.from({ length: Math.ceil(files.length / share) }, (_, n) =>
      files.slice(n * share, (n + 1) * share),
    );
    const reports = shares.map((some) => outputOf(command, [...output, ...globals, '--', ...some], env));
    return inSources((await Promise.all(reports)).join(''), libraries);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function inSources(report: string, libraries: readonly Library[]): string[] {
  const found = new Map<string, { origin: string; isUnused: boolean; times: number }>();
  for (const line of report.trim().split('\n').filter(Boolean)) {
    const [, path = '', number, severity, group, message = ''] = finding.exec(line) ?? [];
    const { origins } = libraries[Number(basename(path))] ?? {};
    if (!origins) throw new Error(`luacheck: ${line}`);
    const from = (at: string | undefined): string => origins[Number(at) - 1] ?? '';
    const origin = from(number);
    // The loader generates it whether or not the library uses it.
    if (severity === 'W' && group !== '1' && !/:\d+$/.test(origin)) continue;
    const [, other] = /\bon line (\d+)/.exec(message) ?? [];
    // The locals of a file are private, except the one with the file's name, which others use.
    const [, name = ''] = /'(\w+)'/.exec(message) ?? [];
    const theirs = fileOf(from(other));
    if (group === '4' && theirs !== fileOf(origin) && basename(theirs, '.lua').replace('_', '') !== name) continue;
    const text = `${origin}: ${message.replace(/\bon line \d+/, `in ${from(other)}`)}`;
    const known = found.get(text);
    found.set(text, { origin, isUnused: group === '2' || group === '3', times: (known?.times ?? 0) + 1 });
  }
  // A helper is included by many scripts: one that does not use all of it is not a finding.
  const isEverywhere = (origin: string, times: number): boolean =>
    times >= libraries.filter(({ origins }) => origins.includes(origin)).length;
  return [...found]
    .filter(([, { origin, isUnused, times }]) => !isUnused || isEverywhere(origin, times))
    .map(([text]) => text);
}

/** Functions that no script uses: the loader leaves them out of every library. */
function leftOut(libraries: readonly Library[], folders: Folders): string[] {
  const inUse = new Set(libraries.flatMap(({ origins }) => origins));
  const files = luaFiles(folders);
  return [...files.values()].flatMap((path) => {
    const { lines } = readSource(path, files.keys());
    const isLeftOut = (line: number | undefined): boolean => line !== undefined && !inUse.has(originOf(path, line));
    const first = lines.filter((line, index) => isLeftOut(line) && !isLeftOut(lines[index - 1]));
    return first.map((line) => `${originOf(path, line)}: no script uses this`);
  });
}

function fileOf(origin: string): string {
  return origin.replace(/:\d+$/, '');
}

/** It exits with 1 or 2 if it has findings. */
function outputOf(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile(command, args, { env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error && error.code !== 1 && error.code !== 2) reject(new Error(stderr || error.message));
      else resolve(stdout);
    }),
  );
}
