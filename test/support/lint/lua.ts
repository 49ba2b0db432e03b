// Lints the library that the loader builds from the Lua files. In it, each file is a scope of its own below its
// imports, so luacheck sees the code that Redis runs. Findings have the file and line of the source. The loader itself
// rejects a name whose file is not included.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Builder, type LuaNames } from '../../../src/engine/library/loader.ts';
import { luaFiles, originOf } from '../../../src/engine/library/source.ts';
import { findLuacheck } from './luacheck.ts';

/** The globals of Lua 5.1 that Redis keeps (except os.clock, which scripts must not use), and those it adds. */
const globals = [
  ...['--std', 'lua51', '--read-globals', 'redis', 'struct', 'cjson', 'cmsgpack', 'bit'],
  ...['--not-globals', 'arg', 'debug', 'dofile', 'getfenv', 'io', 'loadfile', 'module', 'newproxy', 'os', 'package'],
  ...['print', 'require', 'setfenv'],
];
const output = ['--formatter', 'plain', '--codes', '--no-color', '--no-config', '--no-max-line-length'];
const finding = /^(.+):(\d+):\d+: \(([EW])(\d)\d+\) (.*)$/;

const { compare: byLine } = new Intl.Collator('en', { numeric: true });

/** The most columns of a line. */
const maxColumns = 120;

function longLines(path: string): string[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return [...lines.entries()]
    .filter(([, { length }]) => length > maxColumns)
    .map(([index, { length }]) => `${originOf(path, index + 1)}: ${length} columns: ${maxColumns} are the most`);
}

/** How many files luacheck gets at once: the time that it takes for a text grows with the square of its length. */
const filesAtOnce = 40;

/**
 * The findings in a product's Lua files, or in those whose path begins with `below`, as `file:line: text`. Throws the
 * loader's errors.
 */
export async function lint(words: LuaNames, below = ''): Promise<string[]> {
  const builder = new Builder(words);
  const { text, origins } = builder.draft();
  const lines = text.replaceAll(/@\w+@/g, '').split('\n');
  // The first line is not Lua.
  lines[0] = '';
  const from = (line: string | undefined): string => origins[Number(line) - 1] ?? '';
  const places = origins.map((origin) => origin.replace(/:\d+$/, ''));
  const files = [...new Set(places)].filter((place) => place !== '' && place.startsWith(below));
  const texts: string[] = [];
  while (files.length > 0) {
    const some = new Set(['', ...files.splice(0, filesAtOnce)]);
    // Files meet in fields of tables alone, which luacheck does not follow. So all others may be left out.
    texts.push(lines.map((line, index) => (some.has(places[index] ?? '') ? line : '')).join('\n'));
  }
  const all = (await report(texts))
    .trim()
    .split('\n')
    .filter(Boolean)
    .flatMap((line) => {
      const [, , number, severity, group, message = ''] = finding.exec(line) ?? [];
      if (number === undefined) throw new Error(`luacheck: ${line}`);
      const origin = from(number);
      // The loader generates it whether it is used or not.
      if (severity === 'W' && group !== '1' && !isSource(origin)) return [];
      const [, other] = /\bon line (\d+)/.exec(message) ?? [];
      // A local may have the name of a variable that the file does not import.
      if (group === '4' && from(other) === '') return [];
      return [`${origin}: ${message.replace(/\bon line \d+/, `in ${from(other)}`)}`];
    });
  // What the loader writes around the files is in each text.
  const found = [...new Set(all)];
  const generated = lines.filter((line, index) => !isSource(from(String(index + 1))) && !line.startsWith('exports.'));
  const long = [...luaFiles(words.folders).values()]
    .filter((path) => originOf(path, 0).startsWith(below))
    .flatMap(longLines);
  return [
    ...found,
    ...long,
    ...builder.modules.unused(generated.join('\n')).map((name) => `${name} is used nowhere else`),
  ].sort(byLine);
}

async function report(texts: readonly string[]): Promise<string> {
  const { command, env } = await findLuacheck();
  const folder = await mkdtemp(join(tmpdir(), 'muster-lint-'));
  try {
    const files = texts.map((_, index) => join(folder, `library-${index}.lua`));
    await Promise.all(files.map((file, index) => writeFile(file, texts[index] ?? '')));
    return await outputOf(command, [...output, ...globals, '--', ...files], env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isSource = (origin: string): boolean => /:\d+$/.test(origin);

/** luacheck exits with 1 or 2 if it has findings. */
function outputOf(command: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) =>
    execFile(command, args, { env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error && error.code !== 1 && error.code !== 2) reject(new Error(stderr || error.message));
      else resolve(stdout);
    }),
  );
}
