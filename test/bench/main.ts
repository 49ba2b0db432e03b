// npm run bench -- --help
import { type Contender, type Settings, stopAll } from './contenders/contender.ts';
import { Driver } from './driver.ts';
import { goalsTable } from './goals.ts';
import { machine, start } from './options.ts';
import { PHASE_NAMES } from './phases.ts';
import { bullmqQueued, musterQueued, type QueuedRow } from './queued.ts';
import { fixed, median } from './report.ts';
import { Results, runRounds, startContenders } from './rounds.ts';
import { type Options, QUEUED, readOptions } from './settings.ts';
import { phaseTable, queuedTable, redisTable } from './tables.ts';

const FEWEST_ROUNDS = 3;

function printRounds(results: Results, running: Contender[], { rounds, ...options }: Options): void {
  console.log(
    `${rounds} rounds of ${options.seconds} s, ${options.connections} connections, ${options.spaces} spaces; medians; ` +
      machine(),
  );
  if (rounds < FEWEST_ROUNDS) console.log(`fewer than ${FEWEST_ROUNDS} rounds: a trial, not a result`);
  for (const phase of PHASE_NAMES) console.log(phaseTable(results, running, phase));
  const driverMicros = results.all().flatMap(({ http }) => http?.driverMicrosPerRequest ?? []);
  if (driverMicros.length > 0)
    console.log(`\nautocannon itself: ${fixed(median(driverMicros), 1)} µs of processor per request`);
  console.log(redisTable(results, running));
}

async function measureQueued(results: Results, settings: Settings, { only, queued }: Options): Promise<QueuedRow[]> {
  const rows: QueuedRow[] = [];
  if (!only.includes(QUEUED)) return rows;
  if (only.some((name) => name.startsWith('bullmq'))) {
    rows.push(...((await results.attempt('BullMQ, queued', () => bullmqQueued(settings, queued))) ?? []));
  }
  if (only.includes('muster')) {
    rows.push(...((await results.attempt('Muster, queued', () => musterQueued(settings, queued))) ?? []));
  }
  return rows;
}

async function bench(options: Options): Promise<void> {
  const driver = new Driver();
  const { connections, spaces, seconds } = options;
  const settings = { driver, connections, spaces, seconds };
  const results = new Results();
  try {
    const running = await startContenders(options.only, settings, results);
    if (running.length > 0) await runRounds(running, options.rounds, results);
    printRounds(results, running, options);
  } finally {
    await stopAll();
  }
  const queued = await measureQueued(results, settings, options);
  if (queued.length > 0) console.log(queuedTable(queued));
  console.log(goalsTable(results, queued, options.queued));
  driver.stop();
  if (results.failures.length > 0) {
    console.log(`\n${results.failures.join('\n')}`);
    process.exitCode = 1;
  }
}

await start(readOptions(process.argv.slice(2)), bench, stopAll);
