import type { Command } from 'commander';
import { listAudit } from '../primitives/org/admin.ts';
import { type Cli, examples } from './command.ts';

interface ListOptions {
  org: string;
  limit: number;
  cursor?: string;
  key?: string;
}

export function addAuditCommands(program: Command, cli: Cli): void {
  const audit = program.command('audit').description('the audit trail: who changed what, and when');
  examples(audit, 'audit list --org acme');

  const list = audit
    .command('list')
    .description('list changes, newest first; they are kept for 365 days')
    .requiredOption('--org <org>', 'the organization')
    .option(
      '--limit <n>',
      'number of entries, 1 to 1000',
      (text) => (/^\d+$/.test(text) ? Number(text) : Number.NaN),
      100,
    )
    .option('--cursor <cursor>', 'nextCursor of the previous page')
    .option('--key <keyId>', 'only what this key did; a page may be short before the last one')
    .action(({ org, ...choice }: ListOptions) => cli.answer((admin) => listAudit(admin, org, choice)));
  examples(
    list,
    'audit list --org acme',
    'audit list --org acme --limit 1000 --cursor 1767225600000-0',
    'audit list --org acme --key 0190a1b2-0000-7000-8000-3a2b1c0d9e8f',
  );
}
