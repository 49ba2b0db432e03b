import { constants } from 'node:os';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { play, prepare } from './acts.ts';
import { checks } from './checks.ts';
import { Fleet } from './processes.ts';
import { clock, log, status, style } from './screen.ts';
import { unitsOf } from './work.ts';

/** Resolves with an exit status when the demo is interrupted, so that it still cleans up. */
const interruption = new Promise<number>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => resolve(128 + constants.signals[signal]));
  // The reader is gone: `npm run demo | head`.
  process.stdout.on('error', () => resolve(1));
});

async function demo(folder: string): Promise<number> {
  const path = resolve(folder);
  const units = await unitsOf(path).catch(() => {
    throw new Error(`no such folder: ${path}`);
  });
  // With fewer the demo would end too soon to show anything.
  if (units.length < 12) throw new Error(`${folder} holds ${units.length} entries; the demo needs at least 12`);
  const fleet = new Fleet();
  try {
    log('server', 'starting a server, with its data in a temporary folder');
    const server = await fleet.serve();
    log('server', `listening on ${server.url}; its console is ${server.url}/console`);
    const known = await prepare(server, path, units);
    const ended = await Promise.race([play(known, server, fleet), fleet.failed, interruption]);
    status();
    if (ended === undefined) return report(await checks(known));
    console.log('interrupted; everything has been cleaned up');
    return ended;
  } finally {
    await fleet.stop();
  }
}

function report(all: Awaited<ReturnType<typeof checks>>): number {
  const failed = all.filter(({ holds }) => !holds).length;
  for (const { name, holds, text } of all)
    console.log(`${holds ? style('green', 'PASS') : style('red', 'FAIL')}  ${name.padEnd(10)} ${text}`);
  const whole = `all ${all.length} checks hold, after ${clock()}`;
  console.log(`\n${failed === 0 ? whole : `${failed} of ${all.length} checks do not hold`}`);
  return failed === 0 ? 0 : 1;
}

const command = new Command('demo')
  .description('A server, five agents and real files: every primitive of Muster at work, in less than a minute')
  .option('--folder <path>', 'the folder whose files are counted and hashed', 'node_modules')
  .action(async ({ folder }: { folder: string }) => process.exit(await demo(folder)));

command.parseAsync().catch((error: Error) => process.stderr.write(`${error.message}\n`, () => process.exit(1)));
