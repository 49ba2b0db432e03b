import type { Command } from 'commander';
import { ConfigError } from '../config.ts';
import type { JobState } from './bullmq-queue.ts';
import { asksTheApi, clientOf } from './client.ts';
import { type Cli, examples } from './command.ts';
import { importBullmq } from './import-bullmq.ts';
import { ImportIncomplete } from './incomplete.ts';

interface BullmqOptions {
  readonly redis?: string;
  readonly queue: string;
  readonly prefix: string;
  readonly mailbox?: string;
  readonly failed?: true;
  readonly paused?: true;
  readonly dryRun?: true;
}

/** Refused jobs that are named; the JSON has all. */
const maxNamed = 20;

export function addImportCommands(program: Command, cli: Cli): void {
  const all = program.command('import').description('take over the queued work of other systems');
  const line = 'import bullmq --redis redis://127.0.0.1:6379 --queue charges';
  examples(all, `${line} --dry-run`);

  const bullmq = all
    .command('bullmq')
    .description(
      'send the waiting, prioritized and delayed jobs of a BullMQ queue to a mailbox; compare, and fail unless all are there. The queue stays as it is, and a repetition sends only what the mailbox lacks',
    )
    .option('--redis <url>', 'the Redis of the queue (default: BULLMQ_REDIS_URL, which no list of processes shows)')
    .requiredOption('--queue <name>', 'the queue')
    .option('--prefix <prefix>', "BullMQ's prefix of keys", 'bull')
    .option('--mailbox <name>', 'the mailbox, created if there is none (default: named like the queue)')
    .option('--failed', 'also failed jobs, to be tried again with all their attempts')
    .option('--paused', 'also jobs that a version of BullMQ before 6 has put aside when the queue was paused')
    .option('--dry-run', 'send nothing; print what would be sent')
    .action((options: BullmqOptions) => importQueue(cli, options));
  bullmq.addHelpText('after', asksTheApi('coordination_read', 'coordination_write'));
  examples(bullmq, `${line} --dry-run`, line, `${line} --mailbox payments --failed`);
}

async function importQueue(cli: Cli, options: BullmqOptions): Promise<void> {
  const { queue, prefix, mailbox = queue, failed, paused, dryRun } = options;
  const redis = options.redis ?? cli.env['BULLMQ_REDIS_URL'];
  if (!redis) throw new ConfigError('--redis is missing: give the Redis of the queue, or set BULLMQ_REDIS_URL');
  const states: JobState[] = ['waiting', ...(paused ? ['paused' as const] : []), 'prioritized', 'delayed'];
  if (failed) states.push('failed');
  const muster = clientOf(cli.env, 'import bullmq');
  const isDryRun = dryRun === true;
  const report = await importBullmq(muster, { redis, queue, prefix, mailbox, states, isDryRun }, cli.warn);
  cli.print(report);
  for (const { jobId, reason } of report.refused.slice(0, maxNamed)) cli.warn(`job ${jobId} is left: ${reason}`);
  if (report.refused.length > maxNamed) cli.warn(`… and ${report.refused.length - maxNamed} more: --json names them`);
  const wanted = report.states.filter(({ state }) => (states as string[]).includes(state));
  const sum = (count: 'jobs' | 'messages'): number => wanted.reduce((all, one) => all + one[count], 0);
  if (!isDryRun && sum('jobs') !== sum('messages')) throw new ImportIncomplete(sum('messages'), sum('jobs'));
}
