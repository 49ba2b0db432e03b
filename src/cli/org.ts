import { type Command, Option } from 'commander';
import { createOrganization, listOrganizations, setPlan, showOrganization } from '../org/admin.ts';
import { type FigureName, planNames } from '../org/plans.ts';
import { answer, examples, spaceRate } from './command.ts';

interface PlanOptions extends Partial<Record<FigureName, string>> {
  plan: string;
}

/** The flags that only `--plan enterprise` takes. */
const figureFlags: Record<FigureName, [flag: string, meaning: string]> = {
  operations: ['--operations <n>', 'state-changing calls a month'],
  agents: ['--agents <n>', 'messages being worked on at once'],
  spaces: ['--spaces <n>', 'spaces'],
  runs: ['--runs <n>', 'active runs'],
  tasks: ['--tasks <n>', 'pending and running tasks'],
  keys: ['--keys <n>', 'API keys that are not revoked'],
  rpm: ['--rpm <n>', 'requests a minute'],
  retentionDays: ['--retention-days <n>', 'days that finished work is kept (default: 365)'],
};

/** `muster org …`: create, show, list, set-plan. */
export function addOrgCommands(program: Command): void {
  const org = program.command('org').description('organizations: who owns spaces and keys, and what their plan allows');
  examples(org, 'org create acme --plan team', 'org show acme');

  const create = org
    .command('create <org>')
    .description('make an organization; <org> is 3 to 40 characters of a-z, 0-9 and -')
    .addOption(planOption().default('free'))
    .action((name: string, { plan, ...figures }: PlanOptions) =>
      answer((admin) => createOrganization(admin, { org: name, plan, figures })),
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
    .description('show the plan, its figures and what is in use of them')
    .action((name: string) => answer((admin) => showOrganization(admin, name)));
  examples(show, 'org show acme');

  const list = org
    .command('list')
    .description('show every organization')
    .action(() => answer(async (admin) => ({ organizations: await listOrganizations(admin), nextCursor: null })));
  examples(list, 'org list');

  const change = org
    .command('set-plan <org>')
    .description('put an organization on another plan, at once; what is in use above the new figures stays in use')
    .addOption(planOption().makeOptionMandatory())
    .action((name: string, { plan, ...figures }: PlanOptions) =>
      answer((admin) => setPlan(admin, { org: name, plan, figures })),
    );
  addFigureFlags(change);
  examples(change, 'org set-plan acme --plan scale', 'org set-plan acme --plan enterprise --agents 20000');
}

function planOption(): Option {
  return new Option('--plan <plan>', 'what the organization may use').choices(planNames);
}

function addFigureFlags(command: Command): void {
  command.optionsGroup('Only with --plan enterprise, each a whole number or unlimited (default: unlimited):');
  for (const [flag, meaning] of Object.values(figureFlags)) command.option(flag, meaning);
}
