import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { checks } from './checks.ts';
import { play } from './play.ts';
import { Fleet, Server } from './processes.ts';
import { Screen } from './screen.ts';
import { Stage } from './stage.ts';
import { unitsOf } from './work.ts';

/** With fewer it would be over too soon to see anything. */
const minUnits = 12;
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The exit status of an interrupted demo, which cleans up as well. */
function interruption(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of signals) process.on(signal, () => resolve(128 + constants.signals[signal]));
    // The reader is gone: `npm run demo | head`.
    process.stdout.on('error', () => resolve(1));
  });
}

async function demo(folder: string): Promise<number> {
  const path = resolve(folder);
  const units = await unitsOf(path).catch(() => {
    throw new Error(`no such folder: ${path}`);
  });
  if (units.length < minUnits)
    throw new Error(`${folder} holds ${units.length} entries; the demo needs at least ${minUnits}`);
  const interrupted = interruption();
  const screen = new Screen(process.stdout);
  const fleet = new Fleet();
  let server: Server | undefined;
  try {
    screen.log('server', 'starting a server, with its data in a temporary folder');
    server = await Server.start();
    screen.log('server', `listening on ${server.url}`);
    const stage = await Stage.build(server, path, units);
    const ended = await Promise.race([play(stage, server, fleet, screen), fleet.failed, server.failed, interrupted]);
    if (ended !== undefined) {
      screen.close();
      screen.print('interrupted; everything has been cleaned up');
      return ended;
    }
    screen.close();
    return await summary(stage, screen);
  } finally {
    screen.close();
    await fleet.stop();
    await server?.stop();
  }
}

async function summary(stage: Stage, screen: Screen): Promise<number> {
  screen.print();
  const all = await checks(stage);
  for (const { name, holds, text } of all)
    screen.print(`${holds ? screen.style('green', 'PASS') : screen.style('red', 'FAIL')}  ${name.padEnd(10)} ${text}`);
  const failed = all.filter(({ holds }) => !holds);
  screen.print();
  screen.print(
    failed.length === 0
      ? `all ${all.length} checks hold, after ${screen.clock}`
      : `${failed.length} of ${all.length} checks do not hold`,
  );
  return failed.length === 0 ? 0 : 1;
}

const command = new Command('demo')
  .description('A server, five agents and real files: every primitive of Muster at work, in less than a minute')
  .option('--folder <path>', 'the folder whose files are counted and hashed', 'node_modules')
  .action(async ({ folder }: { folder: string }) => {
    process.exitCode = await demo(folder);
  });

command.parseAsync().then(
  () => process.exit(),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  },
);
