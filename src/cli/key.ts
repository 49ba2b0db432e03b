import type { Command } from 'commander';
import { permissions } from '../call/caller.ts';
import { createKey, listKeys, revokeKey } from '../org/admin.ts';
import { type Cli, examples } from './command.ts';

interface CreateOptions {
  org: string;
  permissions: string[];
  spaces?: string[];
  name?: string;
}

const commaList = (text: string): string[] => text.split(',').map((part) => part.trim());

/** `muster key …`: create, list, revoke. */
export function addKeyCommands(program: Command, cli: Cli): void {
  const key = program.command('key').description('API keys: who may call what');
  const worker = 'key create --org acme --permissions coordination_read,coordination_write --name worker';
  examples(key, worker, 'key list --org acme');

  const create = key
    .command('create')
    .description('create an API key; apiKey is shown only now and not stored')
    .requiredOption('--org <org>', 'the organization to create it in')
    .requiredOption(
      '--permissions <list>',
      `comma-separated list of ${permissions.join(', ')}; none includes another`,
      commaList,
    )
    .option('--spaces <ids>', 'comma-separated list of space ids to limit it to (default: every space)', commaList)
    .option('--name <name>', 'a name to recognize it by')
    .action((options: CreateOptions) => cli.answer((admin) => createKey(admin, options)));
  examples(
    create,
    worker,
    `key create --org acme --permissions ${permissions.join(',')} --spaces 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e`,
  );

  const list = key
    .command('list')
    .description("list an organization's keys, including revoked ones, oldest first")
    .requiredOption('--org <org>', 'the organization')
    .action(({ org }: { org: string }) =>
      cli.answer(async (admin) => ({ keys: await listKeys(admin, org), nextCursor: null })),
    );
  examples(list, 'key list --org acme');

  const revoke = key
    .command('revoke <keyId>')
    .description('revoke a key immediately: its next request is refused')
    .requiredOption('--org <org>', 'the organization')
    .action((keyId: string, { org }: { org: string }) => cli.answer((admin) => revokeKey(admin, org, keyId)));
  examples(revoke, 'key revoke --org acme 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e');
}
