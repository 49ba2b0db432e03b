import type { Command } from 'commander';
import { createSpace, listSpaces } from '../org/admin.ts';
import { answer, examples, spaceRate } from './command.ts';

/** `muster space …`: create, list. */
export function addSpaceCommands(program: Command): void {
  const space = program
    .command('space')
    .description('spaces: each has mailboxes, budgets, groups and so on of its own');
  examples(space, 'space create --org acme --name staging', 'space list --org acme');

  const create = space
    .command('create')
    .description('create a space with default limits; its spaceId is part of every request path')
    .requiredOption('--org <org>', 'the organization to create it in')
    .option('--name <name>', 'a name to recognize it by')
    .action((options: { org: string; name?: string }) => answer((admin) => createSpace(admin, options)));
  create.addHelpText('after', `\n${spaceRate}`);
  examples(create, 'space create --org acme --name staging');

  const list = space
    .command('list')
    .description("list an organization's spaces, oldest first")
    .requiredOption('--org <org>', 'the organization')
    .action(({ org }: { org: string }) =>
      answer(async (admin) => ({ spaces: await listSpaces(admin, org), nextCursor: null })),
    );
  examples(list, 'space list --org acme');
}
