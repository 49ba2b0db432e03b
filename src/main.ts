import { writeSync } from 'node:fs';
import { readConfig, settingsHelp } from './config.ts';
import { invocation } from './package.ts';

/** A longer shutdown is aborted. Everything in flight is either safe in the store or was never acknowledged. */
const stopMs = 9_500;

/** Signals within this time count as one: Ctrl-C on `npm start` arrives twice, from the terminal and from npm. */
const sameSignalMs = 500;

/** Aborts on the first SIGTERM, SIGINT or SIGHUP; a second signal ends the process immediately. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  let startedAt = 0;
  const stop = (): void => {
    if (stopping.signal.aborted) {
      if (performance.now() - startedAt > sameSignalMs) process.exit(1);
      return;
    }
    startedAt = performance.now();
    setTimeout(() => process.exit(1), stopMs).unref();
    stopping.abort();
  };
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, stop);
  return stopping.signal;
}

const usage = `Usage: muster serve, npm start, or node dist/main.js

Runs Muster: its API, its workers and, unless REDIS_URL names a store, an embedded Redis. It takes no arguments; these
environment variables set it up:

${settingsHelp()}

Organizations, spaces and API keys are managed with: ${invocation} --help`;

async function main(): Promise<void> {
  const [argument] = process.argv.slice(2);
  if (argument === '--help' || argument === '-h') return void process.stdout.write(`${usage}\n`);
  if (argument !== undefined)
    throw new Error(
      `unknown argument ${JSON.stringify(argument.slice(0, 80))}: settings are environment variables, --help lists them`,
    );
  const config = readConfig();
  const signal = stopSignal();
  // Only now, as the rest takes a second to load.
  const { serve } = await import('./serve.ts');
  await serve(config, signal);
}

/** Don't exit because output cannot be written: the reader may be gone, or its disk full. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** Ends the process with a last line on stderr: plain text for a person at a terminal, otherwise a line like the log's. */
function fail(line: string): void {
  const record = { level: 60, time: new Date().toISOString(), msg: line };
  try {
    writeSync(2, `${process.stderr.isTTY ? line : JSON.stringify(record)}\n`);
  } finally {
    process.exit(1);
  }
}

/** Node would print all properties of the error. Those of a failed command include its arguments, with keys and payloads. */
process.on('uncaughtException', (error) =>
  fail(`fatal error: ${error instanceof Error ? error.stack : 'not an error'}`),
);

main().then(
  () => process.exit(0),
  (error: Error) => fail(error.message),
);
