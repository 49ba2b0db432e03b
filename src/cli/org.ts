import { type Command, Option } from 'commander';
import { createOrganization, listOrganizations, setPlan, showOrganization } from '../primitives/org/admin.ts';
import { type FigureName, planNames } from '../primitives/org/plans.ts';
import { type Cli, examples, spaceRate } from './command.ts';

interface PlanOptions extends Partial<Record<FigureName, string>> {
  plan: string;
}

/** The flags that only `--plan enterprise` takes. */
const figureFlags: Record<FigureName, [flag: string, meaning: string]> = {
  operations: ['--operations <n>', 'state-changing calls per month'],
  agents: ['--agents <n>', 'messages claimed at the same time'],
  spaces: ['--spaces <n>', 'spaces'],
  runs: ['--runs <n>', 'active runs'],
  tasks: ['--tasks <n>', 'pending and running tasks'],
  keys: ['--keys <n>', 'API keys, not counting revoked ones'],
  rpm: ['--rpm <n>', 'requests per minute'],
  retentionDays: ['--retention-days <n>', 'days to keep finished work (default: 365)'],
  retainedBytes: ['--retained-bytes <n>', 'bytes that one space keeps'],
};

export function addOrgCommands(program: Command, cli: Cli): void {
  const org = program.command('org').description('organizations: the owners of spaces and keys, each with a plan');
  examples(org, 'org create acme --plan team', 'org show acme');

  const create = org
    .command('create <org>')
    .description('create an organization; <org> has 3 to 40 characters from a-z, 0-9 and -')
    .addOption(planOption().default('free'))
    .action((name: string, { plan, ...figures }: PlanOptions) =>
      cli.answer((admin) => createOrganization(admin, { org: name, plan, figures })),
    );
  addFigureFlags(create);
  create.addHelpText('after', `\n${spaceRate}`);
  examples(
    create,
    'org create acme --plan team',
    'org create acme --plan enterprise --agents 20000 --rpm unlimited --retention-days 180',
  );

  const show = org
    .command('show <org>')
    .description('show the plan, its limits and their usage')
    .action((name: string) => cli.answer((admin) => showOrganization(admin, name)));
  examples(show, 'org show acme');

  const list = org
    .command('list')
    .description('list all organizations')
    .action(() => cli.answer(async (admin) => ({ organizations: await listOrganizations(admin), nextCursor: null })));
  examples(list, 'org list');

  const change = org
    .command('set-plan <org>')
    .description('change the plan immediately; usage above the new limits is kept')
    .addOption(planOption().makeOptionMandatory())
    .action((name: string, { plan, ...figures }: PlanOptions) =>
      cli.answer((admin) => setPlan(admin, { org: name, plan, figures })),
    );
  addFigureFlags(change);
  examples(change, 'org set-plan acme --plan scale', 'org set-plan acme --plan enterprise --agents 20000');
}

function planOption(): Option {
  return new Option('--plan <plan>', 'the plan').choices(planNames);
}

function addFigureFlags(command: Command): void {
  command.optionsGroup('Only with --plan enterprise; each a whole number or "unlimited" (default: unlimited):');
  for (const [flag, meaning] of Object.values(figureFlags)) command.option(flag, meaning);
}
