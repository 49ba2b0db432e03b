// npm test: the suite in parts, each a mocha process with its own Redis. Four run at once, as many tests mostly wait; lint
// and types begin when one has ended. For any other choice of files: npx mocha <files>.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { endAtExit } from '../src/external-programs/at-exit.ts';

const rooms = ['model', 'mutants', 'redis', 'spec/!(process|snapshot)'];
const interfaces = ['console', 'contract', 'docs', 'http', 'lua'];
const processes = ['clients/behaviours', 'embedded', 'metrics', 'python', 'spec/{process,snapshot}', 'workers'];
const elsewhere = new Set([
  'attack',
  'clients',
  'cluster',
  'fault',
  'release',
  'spec',
  'support',
  ...rooms,
  ...interfaces,
  ...processes,
]);
const folders = readdirSync('test', { withFileTypes: true }).filter((entry) => entry.isDirectory());
/** All other folders, also those that pack dist/, or have files of their own there. */
const products = ['attack/quick', ...folders.map(({ name }) => name).filter((name) => !elsewhere.has(name))];
interface Result {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  /**
   * The failures that it printed. They are shown again at the end, because a log of this length is often kept or read
   * from its end.
   */
  readonly failures: string;
}

const closingLine = /^(\d+) passed, (\d+) failed\n/m;
/** With room for young objects, collecting them takes 5 % less of all processor time. */
const ofNode = ['--max-semi-space-size=64'];
/** A part that has finished ends itself if something was left open (reporter.cjs); one that cannot is killed. */
const endsWithinMs = 60_000;

/** The test files in these folders below test/. */
const filesOf = (places: readonly string[]): string[] => places.map((place) => `test/${place}/**/*.test.ts`);

/** Runs the tests in `places`. `live`: prints output as it comes, otherwise at the end. */
async function run(places: readonly string[], live: boolean): Promise<Result> {
  const words = filesOf(places);
  const mocha = spawn(process.execPath, [...ofNode, 'node_modules/mocha/bin/mocha.js', ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, FORCE_COLOR: process.stdout.isTTY ? '1' : '0' },
  });
  endAtExit(mocha);
  let text = '';
  let late: NodeJS.Timeout | undefined;
  mocha.stdout.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
    if (live) process.stdout.write(piece.replace(closingLine, ''));
    if (closingLine.test(text)) late ??= setTimeout(end, endsWithinMs);
  });
  const end = () => {
    console.error(`${places.join(', ')}: over, but does not end`);
    mocha.kill('SIGKILL');
    // What it started may hold its output open.
    mocha.stdout.destroy();
  };
  const [code] = (await once(mocha, 'close')) as [number | null];
  clearTimeout(late);
  if (!live) process.stdout.write(text.replace(closingLine, ''));
  const [, passed, failed] = closingLine.exec(text) ?? [];
  // A part that fails without a failed test (a leaked connection, a crash) must count as failed, too.
  const failures = Number(failed ?? 0) || (code === 0 ? 0 : 1);
  return {
    name: places.join(', '),
    passed: Number(passed ?? 0),
    failed: failures,
    failures: failures === 0 ? '' : summaryOf(text),
  };
}

/** Mocha's summary: how many passed, then each failure in full. If it died before, its last lines. */
function summaryOf(text: string): string {
  const from = text.search(/\d+ passing\S* \(/);
  const summary = from < 0 ? text.slice(-3_000) : text.slice(from);
  return summary.replace(closingLine, '');
}

/** Lint and types; prints only what is wrong. */
async function check(): Promise<Result> {
  const checks = spawn('npm', ['run', '-s', 'check'], { stdio: ['ignore', 'pipe', 'pipe'] });
  endAtExit(checks);
  let text = '';
  for (const stream of [checks.stdout, checks.stderr])
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
  const [code] = (await once(checks, 'close')) as [number | null];
  return { name: 'npm run check', passed: 0, failed: code === 0 ? 0 : 1, failures: code === 0 ? '' : text };
}

/** In this order, the longest first; the first prints as it goes. */
const waiting = [
  ...[rooms, interfaces, products, processes].map((places, index) => () => run(places, index === 0)),
  check,
];
const results: Result[] = [];

async function runWaiting(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) results.push(await next());
}

await Promise.all(Array.from({ length: 4 }, runWaiting));
const sum = (count: (result: Result) => number) => results.reduce((all, result) => all + count(result), 0);
const failed = sum((result) => result.failed);
const failing = results.filter((result) => result.failed > 0);
for (const { name, failures } of failing) console.log(`\n${name}:\n${failures}`);
// Of a long log, the last lines are kept or read first: they tell of every part that failed.
if (failing.length > 1)
  for (const result of failing) {
    const alone = result.failures.match(/^ +npx mocha .*$/gm) ?? [];
    console.log([`${result.name}: ${result.failed} failed`, ...alone].join('\n'));
  }
console.log(`${sum((result) => result.passed)} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
