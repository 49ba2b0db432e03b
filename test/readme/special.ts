import { existsSync, readFileSync } from 'node:fs';

/** How a line of a bash block is run instead of being passed to the shell. */
type Special =
  | { readonly kind: 'start'; readonly settings: Readonly<Record<string, string>> }
  | { readonly kind: 'load'; readonly script: string }
  | { readonly kind: 'other'; readonly commands: readonly string[] };

const starts = /^(?:npm ci && )?((?:[A-Z_]+=\S+ )*)npm start$/;

/**
 * Lines that are not passed to the shell, and the commands that check them instead. `npm ci` would empty node_modules
 * under the running suite, so npm only does a dry run, which proves that the lock file and package.json agree (CI runs
 * it for real). The others take minutes, or need a terminal or a program that is not everywhere: their npm script must
 * exist, and prints its `--help` where a page says so.
 */
const others: readonly { line: RegExp; commands: readonly string[] }[] = [
  { line: /^npm ci$/, commands: ['npm ci --dry-run --ignore-scripts --offline > /dev/null'] },
  { line: /^npm run (?:-s )?bench\b/, commands: [] },
  { line: /^npm run (?:-s )?demo\b/, commands: [] },
  { line: /^npm run (?:-s )?test:\w+$/, commands: [] },
  { line: /^docker\b/, commands: [] },
  { line: /^(?:helm|kubectl|sudo)\b/, commands: [] },
  { line: /^pip install \.\/src\/clients\/python$/, commands: ['test -f src/clients/python/pyproject.toml'] },
  { line: /^claude mcp add\b/, commands: [] },
];

/** k6 is in no registry that the project uses, so its scripts are run as in the suite (test/load/emulator). */
const loads = /^k6 run (?:-e \w+=\S+ )*(test\/load\/\w+\.js)$/;

/** The special lines of a block; undefined for a block that the shell runs. Throws for a mixture. */
export function specialsOf(text: string, root: string): readonly Special[] | undefined {
  const lines = text
    .split('\n')
    .map((line) => line.replace(/\s+# .*$/, '').trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  const specials = lines.map((line) => specialOf(line, root));
  if (specials.every((special) => special === undefined)) return undefined;
  return specials.map((special, index) => {
    if (!special)
      throw new Error(`put "${lines[index]}" into a block of its own: its neighbours are not run as they stand`);
    return special;
  });
}

function specialOf(line: string, root: string): Special | undefined {
  const [, settings] = starts.exec(line) ?? [];
  if (settings !== undefined)
    return { kind: 'start', settings: Object.fromEntries(settings.split(' ').filter(Boolean).map(setting)) };
  const [, script] = loads.exec(line) ?? [];
  if (script !== undefined) return { kind: 'load', script };
  const known = others.find((other) => other.line.test(line));
  if (!known) return undefined;
  checkExists(line, root);
  return { kind: 'other', commands: known.commands };
}

const setting = (text: string): [string, string] => [
  text.slice(0, text.indexOf('=')),
  text.slice(text.indexOf('=') + 1),
];

function checkExists(line: string, root: string): void {
  const [, name] = /^npm (?:run (?:-s )?)?([\w:]+)/.exec(line) ?? [];
  const { scripts } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8')) as { scripts: Record<string, string> };
  const isOfNpm = name === 'ci';
  if (name !== undefined && !isOfNpm && scripts[name] === undefined) throw new Error(`no npm script ${name}`);
  const files = [
    ...(line.startsWith('docker') ? ['docker-compose.yml'] : []),
    ...(line.match(/\bdocs\/[\w./@-]+/g) ?? []),
  ];
  for (const file of files) if (!existsSync(`${root}/${file}`)) throw new Error(`no ${file}`);
}
