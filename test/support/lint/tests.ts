// Lints the tests: titles are promises that people read, and no bound of real time decides.
import { readdirSync, readFileSync } from 'node:fs';

/** Where real time is the subject: benchmarks, and suites that run for minutes, by themselves. */
const timed = /^test\/(bench|load|fault|cluster|attack\/(slow|fuzz))\b|^test\/support\/(pace|lint)\b/;

/** Files with a machine's pace, each with the reason. */
const paced: Readonly<Record<string, string>> = {
  'test/spec/allowance/script.ts': 'only the long tests time a step',
  'test/spec/allowance/window-roll.test.ts': 'for script.ts',
  'test/spec/allowance/expire-many.test.ts': 'for script.ts',
  'test/workers/schedules.test.ts': 'only the long tests time a step',
};

const maxTitleLength = 110;
/** A title that begins so continues its `describe` without a subject of its own. */
const without = /^(what|who|whose|that|of|one|those|again|so|and)\b/i;
/** How the title of a test or of a block of tests is given: in quotes of one of three kinds. */
export const givenTitle = /(?:\.\w+)?\(\s*(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)"|`([^`]*)`)/.source;
const title = new RegExp(`\\bit${givenTitle}`, 'g');

/** Addresses that are refused, or given to a resolver: nothing can be sent to them. */
const refusedAddresses: readonly string[] = [
  'test/attack/quick/ssrf.test.ts',
  'test/oidc/issuer.test.ts',
  'test/spec/org/settings.test.ts',
];
const outside = /https?:\/\/(?!127\.|0\.0\.0\.0)\d+\.\d+\.\d+\.\d+/;

interface Rule {
  readonly form: RegExp;
  readonly what: string;
}

const rules: readonly Rule[] = [
  {
    // A clock's difference that must be small; that something comes no sooner is no such bound.
    form: /expect\(.*(?:performance|Date)\.now\(\)\s*-.*\)\s*\.to\.(?:not\.)?be\.(?:below|lessThan|lte?|at\.most|within|closeTo)\(/,
    what: 'a machine decides how long this takes: show what has not happened yet instead (support/order.ts)',
  },
  {
    form: /-\s*(?:performance|Date)\.now\(\).*\.to\.be\.(?:below|lessThan|lte?|at\.most|within|closeTo)\(/,
    what: 'a busy machine is late: compare with a moment before and one after, without a margin',
  },
  {
    form: /new Date\(Date\.now\(\) \+ [1-9]\d{0,2}\)|deadline = Date\.now\(\) \+ [1-9]\d{0,2};/,
    what: 'a busy machine misses a moment less than a second ahead: take seconds, or move the clock (world.at)',
  },
  {
    form: /\bthis\.timeout\([1-9]_?\d{3}\)|\.timeout\([1-9]_?\d{3}\)/,
    what: "a busy machine takes longer: leave mocha's limit as it is",
  },
];
/** mocha imports such a file instead of requiring it. */
const waitsAtTop = /^(?:(?:export )?(?:const|let) (?:(?!async|=>)[^`])*(?:= |\()|)await\b/;
const pace = /\bPace\.begin\(|\bpace\.expect/;

/** The findings, as `file:line: what`. */
export function lintTests(file: string, text: string): string[] {
  const found: string[] = [];
  const lineAt = (at: number): number => text.slice(0, at).split('\n').length;
  if (file.endsWith('.test.ts'))
    for (const match of text.matchAll(title)) {
      const words = match[1] ?? match[2] ?? match[3] ?? '';
      const say = (what: string) => found.push(`${file}:${lineAt(match.index)}: ${what}: ${words}`);
      if (without.test(words)) say('a title begins with its subject');
      if (words.length > maxTitleLength) say(`a title has at most ${maxTitleLength} characters`);
    }
  if (file.endsWith('.test.ts'))
    for (const [index, line] of text.split('\n').entries())
      if (waitsAtTop.test(line))
        found.push(`${file}:${index + 1}: an await outside a function gives the file another instance of every module`);
  if (!refusedAddresses.includes(file))
    for (const [index, line] of text.split('\n').entries())
      if (outside.test(line))
        found.push(
          `${file}:${index + 1}: an address outside this machine: take 127.0.0.1, of a port where nobody listens`,
        );
  if (timed.test(file)) return found;
  for (const [index, line] of text.split('\n').entries()) {
    for (const { form, what } of rules) if (form.test(line)) found.push(`${file}:${index + 1}: ${what}`);
    if (pace.test(line) && paced[file] === undefined)
      found.push(`${file}:${index + 1}: a pace is for benchmarks and long tests: decide by order (support/order.ts)`);
  }
  return found;
}

/** The findings in all tests of a checkout. */
export function lintAllTests(root: string): string[] {
  const names = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.endsWith('.ts') && !name.includes('node_modules')).sort();
  return files.flatMap((name) => lintTests(`test/${name}`, readFileSync(`${root}test/${name}`, 'utf8')));
}
