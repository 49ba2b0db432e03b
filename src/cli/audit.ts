import type { Command } from 'commander';
import { listAudit } from '../org/admin.ts';
import { answer, examples } from './command.ts';

interface ListOptions {
  org: string;
  limit: number;
  cursor?: string;
}

/** `muster audit …`: list. */
export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('the audit trail: what was changed, when and by whom');
  examples(audit, 'audit list --org acme');

  const list = audit
    .command('list')
    .description('show what was changed, newest first; kept for 365 days')
    .requiredOption('--org <org>', 'the organization')
    .option(
      '--limit <n>',
      'entries to show, 1 to 1000',
      (text) => (/^\d+$/.test(text) ? Number(text) : Number.NaN),
      100,
    )
    .option('--cursor <cursor>', 'the nextCursor of the page before')
    .action(({ org, limit, cursor }: ListOptions) => answer((admin) => listAudit(admin, org, limit, cursor)));
  examples(list, 'audit list --org acme', 'audit list --org acme --limit 1000 --cursor 1767225600000-0');
}
