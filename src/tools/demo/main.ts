import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createMuster, type Muster } from '../../clients/typescript/index.ts';
import { type Place, Processes } from './processes.ts';
import { clock, log, style } from './screen.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const pool = 'worker-pool.ts';
/** The programs between the death of one pool and the next one. The desk is left out: it waits for a person. */
const others = [
  ...['steps.ts', 'fan-out.ts', 'report.ts', 'phases.ts', 'reviewers.ts', 'budgeted-agent.ts'],
  ...['model-calls.ts', 'crawler.ts', 'fenced-store.ts', 'workflow.ts', 'mcp-agent.ts'],
];

/** Resolves with an exit status when the demo is interrupted, so that it still cleans up. */
const interruption = new Promise<number>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => resolve(128 + constants.signals[signal]));
  // The reader is gone: `npm run demo | head`.
  process.stdout.on('error', () => resolve(1));
});

async function demo(): Promise<number> {
  const processes = new Processes(root);
  try {
    log('server', 'starting a server, with its data in a temporary folder');
    const place = await processes.serve();
    log('server', `listening on ${place.url}; its console is ${place.url}/console`);
    const ended = await Promise.race([play(processes, place), interruption]);
    if (typeof ended === 'number') {
      console.log('interrupted; everything has been cleaned up');
      return ended;
    }
    return report(ended);
  } finally {
    await processes.stop();
  }
}

interface Check {
  readonly name: string;
  readonly holds: boolean;
  readonly text: string;
}

/** Runs the programs of docs/examples one after another. The first is killed, and goes on in the last. */
async function play(processes: Processes, place: Place): Promise<Check[]> {
  const muster = createMuster(place);
  const killed = await kill(processes, place, muster);
  const failed: string[] = [];
  for (const file of [...others, pool]) {
    await introduce(file);
    const child = processes.start(file, place, (line) => log('', line));
    const [status] = await once(child, 'close');
    if (status !== 0) failed.push(file);
  }
  return checks(muster, killed, failed);
}

/** Prints what a program says of itself: the comment at its top. */
async function introduce(file: string): Promise<void> {
  const text = await readFile(join(root, 'docs/examples', file), 'utf8');
  const [comment = ''] = /^(\/\/ .*\n)+/.exec(text) ?? [];
  log('example', style('bold', file));
  for (const line of comment.trimEnd().split('\n')) log('', style('dim', line.slice(3)));
}

/** Starts the pool, and kills it while it holds a message. Returns the message's id. */
async function kill(processes: Processes, place: Place, muster: Muster): Promise<string> {
  await introduce(pool);
  for (;;) {
    const child = processes.start(pool, place, (line) => log('', line));
    for (let isStopped = true; child.exitCode === null; isStopped = !isStopped) {
      child.kill(isStopped ? 'SIGCONT' : 'SIGSTOP');
      await sleep(4);
      const [claim] = isStopped ? [] : (await muster.waits.get()).heldClaims;
      if (!claim) continue;
      child.kill('SIGKILL');
      await once(child, 'close');
      // What it had sent before may have ended that claim.
      await sleep(200);
      const [left] = (await muster.waits.get()).heldClaims;
      if (!left) break;
      log('crash', `kill -9 ${child.pid}: it dies with messages in its hands; nobody tells Muster`);
      log('crash', 'its claims last until their leases end; another one will go on with its work at the end');
      return left.messageId;
    }
    log('', 'it was too fast to be killed: again');
  }
}

/** Compares what was promised with what Muster says now. */
async function checks(muster: Muster, killed: string, failed: readonly string[]): Promise<Check[]> {
  const { state, attempts, finishedAt } = await muster.message.view({ messageId: killed });
  const { messages, claims, waiters, reservations } = await muster.census.get();
  const open = messages.READY + messages.CLAIMED + claims.HELD + waiters.WAITING + reservations.ACTIVE;
  let events = 0;
  for await (const _ of muster.event.all({ limit: 500 })) events++;
  return [
    {
      name: 'programs',
      holds: failed.length === 0,
      text: failed.length === 0 ? `${others.length + 1} have done their work` : `failed: ${failed.join(', ')}`,
    },
    {
      name: 'crash',
      holds: finishedAt !== null && attempts > 1,
      text: `the message of the killed process is ${state} at attempt ${attempts}: nothing was lost`,
    },
    { name: 'left over', holds: open === 0, text: `${open} messages, claims, waiters and reservations` },
    { name: 'journal', holds: events > 0, text: `${events} events say what happened, in order` },
  ];
}

function report(all: readonly Check[]): number {
  const failed = all.filter(({ holds }) => !holds).length;
  for (const { name, holds, text } of all)
    console.log(`${holds ? style('green', 'PASS') : style('red', 'FAIL')}  ${name.padEnd(10)} ${text}`);
  console.log(failed === 0 ? `\nall ${all.length} checks hold, after ${clock()}` : `\n${failed} checks do not hold`);
  return failed === 0 ? 0 : 1;
}

if (process.argv.length > 2) {
  process.stderr.write('the demo takes no arguments: npm run demo\n', () => process.exit(1));
} else {
  demo().then(
    (status) => process.exit(status),
    (error: Error) => process.stderr.write(`${error.message}\n`, () => process.exit(1)),
  );
}
