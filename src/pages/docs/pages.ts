/**
 * The pages of `/docs`, in the order in which they are listed and read: one file of the repository per line. A folder is a
 * page of its programs.
 */
export const groups: readonly { readonly title: string; readonly files: readonly string[] }[] = [
  {
    title: 'Start',
    files: [
      'README.md',
      'docs/quickstart.md',
      'docs/concepts.md',
      'docs/workers.md',
      'docs/workflows.md',
      'docs/steps.md',
      'docs/workflows-in-code.md',
      'docs/codecs.md',
      'docs/testing.md',
      'docs/development.md',
      'docs/rolling-deploy.md',
      'docs/model-calls.md',
      'docs/examples',
      'docs/guarantees.md',
      'docs/requests.md',
      'docs/atomic.md',
      'docs/errors.md',
      'docs/console.md',
      'docs/alternatives.md',
      'docs/bullmq.md',
    ],
  },
  {
    title: 'Primitives',
    files: [
      'docs/mailboxes.md',
      'docs/budgets.md',
      'docs/groups.md',
      'docs/barriers.md',
      'docs/allowances.md',
      'docs/pools.md',
      'docs/questions.md',
      'docs/schedules.md',
      'docs/runs.md',
      'docs/events.md',
      'docs/webhooks.md',
      'docs/diagnostics.md',
      'docs/traces.md',
    ],
  },
  {
    title: 'Clients',
    files: [
      'docs/typescript.md',
      'docs/python.md',
      'src/clients/typescript/README.md',
      'src/clients/python/README.md',
      'docs/mcp.md',
      'docs/browsers.md',
    ],
  },
  {
    title: 'Operate',
    files: [
      'docs/operate/production.md',
      'docs/operate/organizations.md',
      'docs/operate/keys.md',
      'docs/operate/plans.md',
      'docs/operate/settings.md',
      'docs/operate/docker.md',
      'docs/operate/systemd.md',
      'docs/operate/kubernetes.md',
      'docs/operate/security.md',
      'docs/operate/identity.md',
      'docs/operate/scaling.md',
      'docs/operate/cluster.md',
      'docs/operate/monitoring.md',
      'docs/operate/backup.md',
      'docs/operate/upgrade.md',
      'docs/operate/redis-cli.md',
      'lua/README.md',
    ],
  },
  {
    title: 'Evidence',
    files: [
      'docs/evidence/benchmarks.md',
      'docs/evidence/peers.md',
      'docs/evidence/scale.md',
      'docs/evidence/load-tests.md',
      'docs/evidence/faults.md',
      'docs/evidence/attacks.md',
      'docs/evidence/versions.md',
      'docs/evidence/promises.md',
    ],
  },
  {
    title: 'Design & reference',
    files: ['docs/reference.md', 'docs/design.md', 'CHANGELOG.md', 'SECURITY.md', 'CONTRIBUTING.md'],
  },
];

/** The pages of files outside docs/. */
const elsewhere: Readonly<Record<string, string>> = {
  'README.md': '',
  'CHANGELOG.md': 'changelog',
  'CONTRIBUTING.md': 'contributing',
  'SECURITY.md': 'security-policy',
  'lua/README.md': 'redis-cli',
  'src/clients/typescript/README.md': 'muster-client',
  'src/clients/python/README.md': 'muster-python',
};

/** The name of a page: `quickstart` for `docs/quickstart.md`, '' for the front page. */
export function slugOf(file: string): string {
  return elsewhere[file] ?? file.replace(/^docs\//, '').replace(/\.md$/, '');
}

export function pathOf(file: string): string {
  const slug = slugOf(file);
  return slug === '' ? '/docs' : `/docs/${slug}`;
}

/** The path of its Markdown source. */
export const sourcePathOf = (file: string): string => `/docs/${slugOf(file) || 'index'}.md`;
