// Lints the Lua files as the loader expands them. Each is a text of its own, below what it may use: arguments, records
// and the locals of the files that it includes. In its library it could also use what only another script includes.
// Findings have the file and line of the source.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Builder, type Expanded, type Vocabulary } from '../../../src/redis/loader.ts';
import { originOf } from '../../../src/redis/lua-lines.ts';
import { Sources } from '../../../src/redis/source.ts';
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

interface Line {
  readonly text: string;
  readonly origin: string;
}

/** A file as luacheck reads it. */
interface Text {
  readonly file: string;
  readonly lines: readonly Line[];
}

/** The findings in these scripts and their includes, as `file:line: what`. */
export async function lint(scripts: readonly string[], words: Vocabulary): Promise<string[]> {
  const sources = new Sources(words.folders);
  const builder = new Builder(words, {}, sources);
  for (const script of scripts) builder.addScript(script);
  const { text, origins } = builder.draft();
  const lines = text.replaceAll(/@\w+@/g, '').split('\n');
  const all = lines.map((line, index) => ({ text: line, origin: origins[index] ?? '' }));
  return [...(await checked(textsOf(all, builder, sources))), ...leftOut(origins, sources)].sort(byLine);
}

/** `all`: one library of all scripts, so that each helper has whatever one of them uses. */
function textsOf(all: readonly Line[], builder: Builder, { files }: Sources): Text[] {
  const parts = new Map<string, Line[]>();
  for (const line of all) {
    const file = fileOf(line.origin);
    const part = parts.get(file) ?? [];
    part.push(line);
    parts.set(file, part);
  }
  const declared = (name: string, origin = ''): Line => ({ text: `local ${name} = {}`, origin });
  const offeredBy = ({ file, path, records }: Expanded): Line[] => [
    ...[...records, ...(file === 'lib/journal' ? ['emit'] : [])].map((name) => declared(name)),
    ...(parts.get(originOf(path, 0)) ?? []).flatMap(({ text, origin }) => {
      const [, names] = (isSource(origin) && /^local (?:function )?(\w+(?:, \w+)*)/.exec(text)) || [];
      return names?.split(', ').map((name) => declared(name, origin)) ?? [];
    }),
  ];
  const names = new Map([...files].map(([name, path]) => [originOf(path, 0), name]));
  return [...parts].map(([file, lines]) => {
    const name = names.get(file);
    const below = name === undefined ? [] : builder.addHelpers(name);
    const withArgs = name === undefined ? [] : [...below, builder.read(name)];
    const args = withArgs.flatMap((one) => one.args.map((arg) => declared(arg)));
    const used = new Set(lines.flatMap(({ text }) => text.match(/\w+/g) ?? []));
    const above = [...args, ...below.flatMap(offeredBy)].filter(({ text }) => used.has(text.split(' ')[1] ?? ''));
    return { file, lines: [...all.slice(0, 1), ...above, ...lines] };
  });
}

async function checked(texts: readonly Text[]): Promise<string[]> {
  const { command, env } = await findLuacheck();
  const folder = await mkdtemp(join(tmpdir(), 'muster-lint-'));
  try {
    const files = texts.map((_, index) => join(folder, String(index)));
    for (const [index, { lines }] of texts.entries())
      await writeFile(files[index] ?? '', lines.map(({ text }) => text).join('\n'));
    return inSources(await outputOf(command, [...output, ...globals, '--', ...files], env), texts);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function inSources(report: string, texts: readonly Text[]): string[] {
  const found = new Set<string>();
  /** Locals that a text does not use, and in how many texts that is so. */
  const unused = new Map<string, { text: string; times: number }>();
  for (const line of report.trim().split('\n').filter(Boolean)) {
    const [, path = '', number, severity, group, message = ''] = finding.exec(line) ?? [];
    const { file, lines } = texts[Number(basename(path))] ?? {};
    if (!lines) throw new Error(`luacheck: ${line}`);
    const from = (at: string | undefined): string => lines[Number(at) - 1]?.origin ?? '';
    const origin = from(number);
    // The loader generates it whether or not it is used.
    if (severity === 'W' && group !== '1' && !isSource(origin)) continue;
    const [, other] = /\bon line (\d+)/.exec(message) ?? [];
    // The locals of a file are private, except the one with the file's name, which others use.
    const [, name = ''] = /'(\w+)'/.exec(message) ?? [];
    const theirs = fileOf(from(other));
    if (group === '4' && theirs !== fileOf(origin) && basename(theirs, '.lua').replace('_', '') !== name) continue;
    const text = `${origin}: ${message.replace(/\bon line \d+/, `in ${from(other)}`)}`;
    const key = `${origin} ${name}`;
    if (group === '2') unused.set(key, { text, times: 1 + (unused.get(key)?.times ?? 0) });
    else if (group !== '3' || file === fileOf(origin)) found.add(text);
  }
  for (const [key, { text, times }] of unused) {
    const [origin = '', name = ''] = key.split(' ');
    const isThere = (line: Line): boolean => line.origin === origin && line.text.includes(name);
    // A file that includes another may use that one's locals.
    if (times >= texts.filter(({ lines }) => lines.some(isThere)).length) found.add(text);
  }
  return [...found];
}

/** Functions that no script uses: the loader leaves them out. */
function leftOut(origins: readonly string[], sources: Sources): string[] {
  const inUse = new Set(origins);
  return [...sources.files.values()].flatMap((path) => {
    const { lines } = sources.read(path);
    const isLeftOut = (line: number | undefined): boolean => line !== undefined && !inUse.has(originOf(path, line));
    const first = lines.filter((line, index) => isLeftOut(line) && !isLeftOut(lines[index - 1]));
    return first.map((line) => `${originOf(path, line)}: no script uses this`);
  });
}

const isSource = (origin: string): boolean => /:\d+$/.test(origin);

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
