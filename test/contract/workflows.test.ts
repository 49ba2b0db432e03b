import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { validateWorkflow } from '@action-validator/core';
import { expect } from 'chai';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(root + path, 'utf8');

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Job {
  readonly steps: readonly Step[];
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly (string | number)[]>> };
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflows = new Map(
  readdirSync(`${root}.github/workflows`).map((name) => [name, parse(read(`.github/workflows/${name}`)) as Workflow]),
);
const steps = [...workflows].flatMap(([name, { jobs }]) =>
  Object.values(jobs).flatMap((job) => job.steps.map((step) => ({ name, step }))),
);

describe('The workflows', () => {
  it('are what GitHub takes', () => {
    const errors = (text: string) => (validateWorkflow(text) as { errors: unknown[] }).errors;
    for (const name of workflows.keys()) expect(errors(read(`.github/workflows/${name}`)), name).to.deep.equal([]);
    expect(errors('on: push\njobs: { test: { runs-on: ubuntu-24.04, stepz: [] } }')).to.have.lengthOf(1);
  });

  it('may read the code and nothing else, unless a job says so', () => {
    for (const [name, { permissions }] of workflows) expect(permissions, name).to.deep.equal({ contents: 'read' });
  });

  it('take actions by commit, and run what package.json has', () => {
    const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
    for (const { name, step } of steps) {
      if (step.uses !== undefined) expect(step.uses, name).to.match(/^[\w./-]+@(?:[0-9a-f]{40})$/);
      for (const [, script = ''] of (step.run ?? '').matchAll(/npm run (?:-s )?([\w:]+)/g))
        expect(scripts, name).to.have.property(script);
    }
    const suites = workflows.get('weekly.yml')?.jobs['test']?.strategy?.matrix['suite'];
    expect(scripts).to.include.keys(suites as string[]);
    expect(suites).to.include.members(['test:fault', 'test:cluster', 'test:attack', 'test:long']);
  });

  it('test with the stores and the versions of Node that the README names', () => {
    const { matrix } = workflows.get('ci.yml')?.jobs['test']?.strategy ?? { matrix: {} };
    const [, redis = '', valkey = '', node = ''] =
      /Tested with Redis ([^;V]*), Valkey ([^;N]*), Node ([\d, and]*)\./.exec(
        read('README.md').replaceAll('\n', ' '),
      ) ?? [];
    const list = (text: string): string[] => text.split(/, | and /);
    const stores = [
      ...list(redis).map((version) => `Redis ${version}`),
      ...list(valkey).map((version) => `Valkey ${version}`),
    ];
    expect(matrix['store']).to.deep.equal(stores);
    expect(matrix['node']?.map(String)).to.deep.equal(list(node));
  });
});
