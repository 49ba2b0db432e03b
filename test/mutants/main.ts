// npm run test:mutants -- [target…] [--count n|all] [--seed n] [--again] [--list]: plants one change at a time, and shows those
// that no test notices. A target is a room, `lib`, `client/worker`, `client/spend`, or a file, also with a line:
// lua/barrier/cancel.lua:10.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { drawn, type Mutant, nameOf } from './mutant.ts';
import { Records } from './records.ts';
import { mutantsIn, type Target, targets } from './targets.ts';
import { copyOf } from './tree.ts';
import { Trial } from './trial.ts';

/** A mutant that no test can notice, with the reason. */
interface Equivalent {
  readonly file: string;
  readonly line: string;
  readonly becomes: string;
  readonly nth?: number;
  readonly why: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const needed = 0.95;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '20' },
    seed: { type: 'string', default: '59' },
    again: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const count = values.count === 'all' ? Number.POSITIVE_INFINITY : Number(values.count);
const seed = Number(values.seed);
const equivalents = JSON.parse(readFileSync(new URL('equivalents.json', import.meta.url), 'utf8')) as Equivalent[];
const reasons = new Map(equivalents.map(({ nth = 1, ...one }) => [nameOf({ ...one, nth }), one.why]));
/** Looked at and run as it is now, however it is edited meanwhile. */
const tree = values.list ? root : copyOf(root);
const all = targets(tree);
const chosen: Choice[] = positionals.length === 0 ? all.map((target) => ({ target })) : positionals.map(choice);
const missed: string[] = [];

for (const { target, file, line } of chosen) await examine(target, file, line);
for (const text of missed) console.log(text);
process.exit(missed.length === 0 ? 0 : 1);

interface Choice {
  readonly target: Target;
  readonly file?: string;
  readonly line?: number;
}

function choice(text: string): Choice {
  const [file = '', line] = text.split(':');
  const target = all.find(({ name, files }) => name === text || files.includes(file));
  if (target === undefined)
    throw new Error(`there is no ${text}: it is ${all.map(({ name }) => name).join(', ')}, or a file of these`);
  if (target.name === text) return { target };
  return { target, file, ...(line !== undefined && { line: Number(line) }) };
}

async function examine(target: Target, file?: string, line?: number): Promise<void> {
  const found = mutantsIn(tree, target.files);
  stale(target, found);
  const mutants =
    file === undefined
      ? drawn(found, seed)
      : found.filter((one) => one.file === file && (line === undefined || one.at === line));
  const most = file === undefined ? count : Number.POSITIVE_INFINITY;
  if (values.list) {
    for (const mutant of mutants.slice(0, most)) console.log(describe(mutant));
    return;
  }
  console.log(`\n${target.name}: ${found.length} mutants, ${target.tests.length} test files, seed ${seed}`);
  const records = new Records(tree, target.name, join(root, '.mutants'));
  let trial: Trial | undefined;
  const tally = { died: 0, equivalent: 0, survived: [] as Mutant[] };
  for (const mutant of mutants) {
    const done = tally.died + tally.equivalent + tally.survived.length;
    if (done >= most) break;
    const start = performance.now();
    const why = reasons.get(nameOf(mutant));
    const known = values.again ? undefined : records.outcome(mutant, target.tests);
    if (why === undefined && known === undefined && trial === undefined) {
      trial = new Trial(tree, target, records, seed);
    }
    const outcome = why === undefined ? (known ?? (await trial?.try(mutant))) : undefined;
    const seconds = known || why !== undefined ? '' : ` (${((performance.now() - start) / 1000).toFixed(0)} s)`;
    if (why !== undefined) {
      tally.equivalent++;
      console.log(`${done + 1} equivalent  ${describe(mutant)}\n     ${why}`);
    } else if (outcome?.fate === 'invalid') continue;
    else if (outcome?.fate === 'died') {
      tally.died++;
      console.log(`${done + 1} died  ${describe(mutant)}\n     ${outcome.test ?? ''} ${outcome.by}${seconds}`);
    } else {
      tally.survived.push(mutant);
      console.log(`${done + 1} SURVIVED  ${describe(mutant)}${seconds}`);
    }
  }
  await trial?.end();
  for (const [test, failure] of trial?.broken ?? [])
    console.log(`${test} fails without a mutant, and was left out: ${failure}`);
  const { died, equivalent, survived } = tally;
  const share = died / Math.max(1, died + survived.length);
  console.log(`${target.name}: ${died} of ${died + survived.length} died, ${equivalent} equivalent`);
  if (share < needed)
    missed.push(
      `\n${target.name}: ${survived.length} survived\n${survived.map((one) => `  ${describe(one)}`).join('\n')}`,
    );
}

function describe({ file, at, kind, line, becomes }: Mutant): string {
  return `${file}:${at} ${kind}\n     - ${line.replace(/\s+/g, ' ')}\n     + ${becomes.replace(/\s+/g, ' ')}`;
}

/** An equivalent mutant whose line has changed must be looked at again. */
function stale({ files }: Target, found: readonly Mutant[]): void {
  const names = new Set(found.map(nameOf));
  for (const { nth = 1, ...one } of equivalents) {
    const isHere = files.includes(one.file) || !existsSync(join(tree, one.file));
    if (isHere && !names.has(nameOf({ ...one, nth })))
      missed.push(`equivalents.json: no such change: ${one.file} ${one.line} => ${one.becomes}`);
  }
}
