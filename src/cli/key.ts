import type { Command } from 'commander';
import { permissions } from '../engine/route/caller.ts';
import { createKey, listKeys, revokeKey, rotateKey } from '../primitives/org/admin.ts';
import { type Cli, examples } from './command.ts';

interface CreateOptions {
  org: string;
  permissions: string[];
  spaces?: string[];
  mailboxes?: string[];
  holder?: string;
  expiresInDays?: number;
  name?: string;
}

const keyId = '0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e';
const whole = (text: string): number => (/^\d+$/.test(text) ? Number(text) : Number.NaN);
const commaList = (text: string): string[] => text.split(',').map((part) => part.trim());

export function addKeyCommands(program: Command, cli: Cli): void {
  const key = program.command('key').description('API keys: the permissions and limits of callers');
  const worker = 'key create --org acme --permissions coordination_read,coordination_write --name worker';
  examples(key, worker, 'key list --org acme');

  const create = key
    .command('create')
    .description('create an API key; apiKey is shown only now and not stored')
    .requiredOption('--org <org>', 'the organization to create it in')
    .requiredOption(
      '--permissions <list>',
      `comma-separated list of ${permissions.join(', ')}; none includes another, except that resource_config includes resource_spend`,
      commaList,
    )
    .option('--spaces <ids>', 'comma-separated list of space ids to limit it to (default: every space)', commaList)
    .option(
      '--mailboxes <ids>',
      'comma-separated list of mailbox ids of one space to limit it to (default: all)',
      commaList,
    )
    .option('--holder <name>', 'the only name under which it acts (default: any)')
    .option('--expires-in-days <n>', 'when it ends, counted from now (default: never)', whole)
    .option('--name <name>', 'a name to recognize it by')
    .action((options: CreateOptions) => cli.answer((admin) => createKey(admin, options)));
  examples(
    create,
    worker,
    `key create --org acme --permissions ${permissions.join(',')} --spaces ${keyId}`,
    'key create --org acme --permissions coordination_write --holder worker-7 --expires-in-days 90',
  );

  const rotate = key
    .command('rotate <keyId>')
    .description('create a key with the rights and the end of another one, which ends by itself after the overlap')
    .requiredOption('--org <org>', 'the organization')
    .requiredOption('--overlap-hours <n>', 'how long the other key stays valid; 0 ends it at once', whole)
    .action((keyId: string, options: { org: string; overlapHours: number }) =>
      cli.answer((admin) => rotateKey(admin, { ...options, keyId })),
    );
  examples(rotate, `key rotate --org acme ${keyId} --overlap-hours 24`);

  const list = key
    .command('list')
    .description("list an organization's keys with ended and revoked ones, oldest first")
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
  examples(revoke, `key revoke --org acme ${keyId}`);
}
