import type { Command } from 'commander';
import { invocation } from '../package.ts';
import { type Admin, createSpace, listSpaces, showOrganization } from '../primitives/org/admin.ts';
import { spaceLimits } from '../primitives/org/space-limits.ts';
import { product } from '../primitives/primitives.ts';
import { limitsAt } from '../primitives/space/limits.ts';
import { type Cli, examples, spaceRate } from './command.ts';

/** The flag of a limit: `--requests-per-minute` for `requestsPerMinute`. */
const flagOf = (name: string): string => `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** A new space with its limits, and how to raise them. */
async function created(admin: Admin, options: { org: string; name?: string }): Promise<object> {
  const space = await createSpace(admin, options);
  const { rpm } = (await showOrganization(admin, options.org)).figures;
  const limits = limitsAt(admin.limits, 'default');
  const max = Number(limitsAt(admin.limits, 'max')['requestsPerMinute']);
  const most = rpm === 'unlimited' ? max : Math.min(Number(rpm), max);
  const raise = `${invocation} space limits ${space.spaceId} --org ${options.org} --requests-per-minute ${most}`;
  return { ...space, limits, ...(most > Number(limits['requestsPerMinute']) && { raiseLimitsWith: raise }) };
}

export function addSpaceCommands(program: Command, cli: Cli): void {
  const space = program
    .command('space')
    .description('spaces: each has mailboxes, budgets, groups and so on of its own');
  examples(space, 'space create --org acme --name staging', 'space list --org acme');

  const create = space
    .command('create')
    .description('create a space with default limits; its spaceId is part of every request path')
    .requiredOption('--org <org>', 'the organization to create it in')
    .option('--name <name>', 'a name to recognize it by')
    .action((options: { org: string; name?: string }) => cli.answer((admin) => created(admin, options)));
  create.addHelpText('after', `\n${spaceRate}`);
  examples(create, 'space create --org acme --name staging');

  const list = space
    .command('list')
    .description("list an organization's spaces, oldest first")
    .requiredOption('--org <org>', 'the organization')
    .action(({ org }: { org: string }) =>
      cli.answer(async (admin) => ({ spaces: await listSpaces(admin, org), nextCursor: null })),
    );
  examples(list, 'space list --org acme');

  const limits = space
    .command('limits <spaceId>')
    .description("show a space's limits, and set those that are given")
    .requiredOption('--org <org>', 'the organization')
    .optionsGroup('Each a whole number, or default:')
    .action((spaceId: string, { org, ...typed }: Record<string, string>) =>
      cli.answer((admin) => spaceLimits(admin, { org: org ?? '', spaceId, typed })),
    );
  for (const [name, { min, max, default: preset }] of Object.entries(product.limits))
    limits.option(`${flagOf(name)} <n>`, `${min} to ${max} (default: ${preset ?? 'unlimited'})`);
  const one = 'space limits 0190b8a4-7e2b-7c55-9d3e-5a1f0c2b4d6e --org acme';
  examples(limits, one, `${one} --requests-per-minute 1200 --max-backlog default`);
}
