import type { Command } from 'commander';
import { permissions } from '../http/route.ts';
import { createKey, listKeys, revokeKey } from '../org/admin.ts';
import { answer, examples } from './command.ts';

interface CreateOptions {
  org: string;
  permissions: string[];
  spaces?: string[];
  name?: string;
}

const commaList = (text: string): string[] => text.split(',').map((part) => part.trim());

/** `muster key …`: create, list, revoke. */
export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys: who may call, and what');
  const worker = 'key create --org acme --permissions coordination_read,coordination_write --name worker';
  examples(key, worker, 'key list --org acme');

  const create = key
    .command('create')
    .description('make an API key; apiKey is shown this once and kept nowhere')
    .requiredOption('--org <org>', 'the organization it belongs to')
    .requiredOption(
      '--permissions <list>',
      `a comma list of ${permissions.join(', ')}; none implies another`,
      commaList,
    )
    .option('--spaces <ids>', 'a comma list of the spaces it is limited to (default: every space)', commaList)
    .option('--name <name>', 'what people call it')
    .action((options: CreateOptions) => answer((admin) => createKey(admin, options)));
  examples(
    create,
    worker,
    `key create --org acme --permissions ${permissions.join(',')} --spaces 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e`,
  );

  const list = key
    .command('list')
    .description("show an organization's keys, revoked ones too, oldest first")
    .requiredOption('--org <org>', 'the organization')
    .action(({ org }: { org: string }) =>
      answer(async (admin) => ({ keys: await listKeys(admin, org), nextCursor: null })),
    );
  examples(list, 'key list --org acme');

  const revoke = key
    .command('revoke <keyId>')
    .description('revoke a key at once: the next request with it is refused')
    .requiredOption('--org <org>', 'the organization')
    .action((keyId: string, { org }: { org: string }) => answer((admin) => revokeKey(admin, org, keyId)));
  examples(revoke, 'key revoke --org acme 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e');
}
