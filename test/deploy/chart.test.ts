import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { readConfig, settingsHelp } from '../../src/config.ts';
import { findHelm } from './helm.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../', import.meta.url));
const chart = join(root, 'docs/deploy/chart');
const read = (path: string) => readFile(join(root, path), 'utf8');

type Tree = { [name: string]: unknown };
interface Manifest extends Tree {
  kind: string;
  metadata: { name: string; labels?: Tree };
}
interface Schema {
  properties?: Record<string, Schema>;
  additionalProperties?: unknown;
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

/** `api.replicas` and so on: every value that has no values below it. */
function pathsOf(tree: Tree, prefix = ''): string[] {
  return Object.entries(tree).flatMap(([name, value]) =>
    isTree(value) && !/resources$/.test(prefix + name) ? pathsOf(value, `${prefix}${name}.`) : [prefix + name],
  );
}

function parsed(text: string): Manifest[] {
  return parseAllDocuments(text)
    .map((one) => one.toJS() as Manifest | null)
    .filter((one) => one !== null);
}

const byName = (objects: Manifest[]) =>
  Object.fromEntries(objects.map((one) => [`${one.kind} ${one.metadata.name}`, one]));

describe('the Helm chart', () => {
  // The first run may download helm.
  let helm = '';
  let folder = '';
  let values: Tree = {};
  before(async () => {
    helm = await findHelm();
    folder = await mkdtemp(join(tmpdir(), 'muster-chart-'));
    values = parse(await read('docs/deploy/chart/values.yaml'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function helms(command: readonly string[], changed: Tree, from = chart): Promise<string> {
    const file = join(folder, 'values.yaml');
    await writeFile(file, stringify(changed));
    return (await run(helm, [...command, from, '--values', file])).stdout;
  }
  const template = (changed: Tree = {}, release = 'muster') => helms(['template', release], changed);
  const rendered = async (changed: Tree = {}, release = 'muster') => byName(parsed(await template(changed, release)));
  const refusal = (changed: Tree) =>
    template(changed).then(
      () => 'rendered',
      (error: { stderr: string }) => error.stderr,
    );

  it('renders the objects of kubernetes.yaml, and adds only labels to their metadata', async () => {
    const objects = await rendered();
    for (const { metadata } of Object.values(objects)) {
      expect(metadata.labels).to.include({ 'app.kubernetes.io/instance': 'muster', 'helm.sh/chart': 'muster-0.1.0' });
      delete metadata.labels;
    }
    expect(objects).to.deep.equal(byName(parsed(await read('docs/deploy/kubernetes.yaml'))));
  });

  it('passes helm lint, with and without its optional parts', async () => {
    await helms(['lint', '--strict'], {});
    await helms(['lint', '--strict'], { ingress: { enabled: true, host: 'muster.example.com' } });
  });

  it('has the version of the server', async () => {
    const { version } = JSON.parse(await read('package.json'));
    const { version: own, appVersion } = parse(await read('docs/deploy/chart/Chart.yaml'));
    expect([own, appVersion]).to.deep.equal([version, version]);
  });

  it('knows each value in values.yaml, in its schema and in a template', async () => {
    const schema: Schema = JSON.parse(await read('docs/deploy/chart/values.schema.json'));
    const declared = (one: Schema, prefix = ''): string[] =>
      Object.entries(one.properties ?? {}).flatMap(([name, each]) =>
        each.properties && name !== 'settings' ? declared(each, `${prefix}${name}.`) : [prefix + name],
      );
    // Helm passes `global` to every chart.
    expect(declared(schema).filter((path) => path !== 'global')).to.have.members(pathsOf(values));
    const templates = join(chart, 'templates');
    const texts = await Promise.all((await readdir(templates)).map((name) => readFile(join(templates, name), 'utf8')));
    const used = [...texts.join('\n').matchAll(/\.Values\.([\w.]*\w)/g)].map(([, path = '']) => path);
    const known = ['api', 'worker', 'settings.PUBLIC_URL', ...pathsOf(values)];
    expect(new Set(used)).to.satisfy((paths: Set<string>) => [...paths].every((path) => known.includes(path)));
  });

  it('renders something else for each value that is changed', async () => {
    const samples: Tree = {
      settings: { LOG_LEVEL: 'warn' },
      extraEnv: [{ name: 'A', value: 'b' }],
      'image.pullPolicy': 'Always',
      'service.type': 'NodePort',
      'podMonitor.interval': '10s',
    };
    // So that what an optional part takes is seen, too.
    const all: Tree = {
      ingress: { enabled: true, host: 'muster.example.com' },
      podMonitor: { enabled: true },
    };
    const changed = (path: string, before: unknown): unknown => {
      if (path in samples) return samples[path];
      if (typeof before === 'boolean') return false;
      if (typeof before === 'number') return before + 1;
      if (typeof before === 'string') return 'other';
      if (Array.isArray(before)) return [{ name: 'other' }];
      return { other: 'one' };
    };
    const at = (tree: Tree, path: string) => path.split('.').reduce<unknown>((one, name) => (one as Tree)[name], tree);
    const before = await template(all);
    for (const path of pathsOf(values)) {
      const one = structuredClone(all);
      const names = path.split('.');
      const last = names.pop() ?? '';
      const inner = names.reduce((tree, name) => {
        tree[name] ??= {};
        return tree[name] as Tree;
      }, one);
      inner[last] = changed(path, at(values, path));
      expect(await template(one), path).to.not.equal(before);
    }
  });

  it('takes the settings of the server that a deployment may change, and no others', async () => {
    const { properties }: Schema = JSON.parse(await read('docs/deploy/chart/values.schema.json'));
    const fixed = ['ROLE', 'REDIS_URL', 'HOST', 'PORT', 'METRICS_PORT', 'DATA_DIR'];
    const ofTheEmbeddedStore = ['REDIS_SERVER', 'REDIS_MAXMEMORY'];
    const others = [...settingsHelp().matchAll(/^ {2}([A-Z_]+)/gm)]
      .map(([, name = '']) => name)
      .filter((name) => ![...fixed, ...ofTheEmbeddedStore].includes(name) && !/^OTEL_/.test(name));
    expect(Object.keys(properties?.['settings']?.properties ?? {})).to.have.members(others);
    const settings = { PUBLIC_URL: 'https://muster.example.com', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://otel:4318' };
    const objects = await rendered({ settings });
    const env = envOf(objects['Deployment muster-worker']);
    expect(env).to.include({ ROLE: 'worker', ...settings });
    expect(readConfig({ ...env, REDIS_URL: 'redis://redis' }).publicUrl).to.equal('https://muster.example.com');
    expect(await refusal({ settings: { PORT: '9000' } })).to.match(/settings.*\bPORT\b/s);
  });

  it('renders Ingress and PodMonitor on request, and says what they lack', async () => {
    const ingress = { enabled: true, host: 'muster.example.com', className: 'nginx', tlsSecretName: 'tls' };
    const objects = await rendered({ ingress, podMonitor: { enabled: true, labels: { release: 'prometheus' } } });
    expect(objects['Ingress muster']?.['spec']).to.deep.equal({
      ingressClassName: 'nginx',
      tls: [{ hosts: ['muster.example.com'], secretName: 'tls' }],
      rules: [
        {
          host: 'muster.example.com',
          http: {
            paths: [
              { path: '/', pathType: 'Prefix', backend: { service: { name: 'muster', port: { name: 'http' } } } },
            ],
          },
        },
      ],
    });
    const monitor = objects['PodMonitor muster'];
    expect(monitor?.metadata.labels).to.include({ release: 'prometheus' });
    expect(monitor?.['spec']).to.deep.equal({
      selector: { matchLabels: { app: 'muster' } },
      podMetricsEndpoints: [
        { port: 'metrics', interval: '30s', relabelings: [{ targetLabel: 'job', replacement: 'muster' }] },
      ],
    });
    expect(await refusal({ ingress: { enabled: true } })).to.include('ingress.host is missing');
  });

  it('refuses a value that it does not know', async () => {
    expect(await refusal({ api: { replica: 3 } })).to.match(/replica\b/);
    expect(await refusal({ api: { replicas: 'three' } })).to.match(/replicas.*integer/s);
  });

  it('names its objects after the release, so that two fit into a namespace', async () => {
    expect(Object.keys(await rendered({}, 'desk'))).to.have.members([
      'Service desk-muster',
      'Deployment desk-muster-api',
      'Deployment desk-muster-worker',
      'PodDisruptionBudget desk-muster-api',
    ]);
    const long = 'r'.repeat(53);
    for (const name of Object.keys(await rendered({}, long))) expect(name.split(' ')[1]?.length).to.be.at.most(63);
  });

  it('says the next steps, in the namespace of the release', async () => {
    // Helm 3 shows notes only to whoever has a cluster, so a copy of the chart renders them as a value.
    const copy = join(folder, 'chart');
    await cp(chart, copy, { recursive: true });
    await rename(join(copy, 'templates/NOTES.txt'), join(copy, 'NOTES.txt'));
    await writeFile(
      join(copy, 'templates/notes.yaml'),
      'kind: Notes\ntext: {{ tpl (.Files.Get "NOTES.txt") . | quote }}\n',
    );
    const notes = async (changed: Tree) => {
      const command = ['template', 'desk', '--namespace', 'agents', '--show-only', 'templates/notes.yaml'];
      return parsed(await helms(command, changed, copy))[0]?.['text'];
    };
    expect(await notes({}))
      .to.include('kubectl create secret generic muster -n agents --from-literal=redis-url=')
      .and.include('kubectl exec deploy/desk-muster-worker -n agents -- muster org create acme')
      .and.include('kubectl port-forward svc/desk-muster -n agents 8080:80');
    const ingress = { enabled: true, host: 'muster.example.com', tlsSecretName: 'tls' };
    expect(await notes({ ingress })).to.include(
      'The API is at https://muster.example.com. Set settings.PUBLIC_URL to that address.',
    );
  });
});

function envOf(deployment: Manifest | undefined): Record<string, string> {
  const { spec } = deployment as unknown as {
    spec: { template: { spec: { containers: { env: { name: string; value?: string }[] }[] } } };
  };
  const [container] = spec.template.spec.containers;
  return Object.fromEntries((container?.env ?? []).map(({ name, value = '' }) => [name, value]));
}
