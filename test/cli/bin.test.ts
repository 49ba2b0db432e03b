import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { table } from '../../src/cli/table.ts';
import { readConfig } from '../../src/config.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { version } from '../../src/package.ts';
import { muster } from '../support/cli.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const run = promisify(execFile);

describe('the packed package', () => {
  let folder = '';
  let paths: string[] = [];
  let command = '';
  let env: NodeJS.ProcessEnv = {};
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'muster-packed-'));
    await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: root });
    await run('tar', ['-xzf', join(folder, `muster-server-${version}.tgz`), '-C', folder]);
    const installed = join(folder, 'node_modules/muster-server');
    await mkdir(dirname(installed));
    await run('mv', [join(folder, 'package'), installed]);
    paths = await readdir(installed, { recursive: true });
    // As npm installs it: nothing beside it, as its dependencies are bundled.
    const { dependencies, bin } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect(dependencies).to.equal(undefined);
    // The Redis that the project has unpacked, if it has: it would be unpacked there, too.
    await symlink(join(root, '.redis'), join(installed, '.redis'));
    await mkdir(join(folder, 'node_modules/.bin'));
    await run('chmod', ['+x', join(installed, bin.muster)]);
    command = join(folder, 'node_modules/.bin/muster');
    await symlink(join('../muster-server', bin.muster), command);
    env = { ...process.env, REDIS_URL: '', PORT: '0', LOG_LEVEL: 'warn', DATA_DIR: join(folder, 'data') };
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('has what it runs with, its licence notices, and nothing that only builds it', () => {
    expect(paths).to.include.members([
      'dist/docs/scalar/LICENSE',
      'dist/docs/site/index.html',
      'dist/docs/site/llms.txt',
      'dist/docs/browser/docs.js',
      'dist/main.js',
      'lua/mailbox/send.lua',
      'README.md',
      'LICENSE',
      // What docs/operate/production.md has an operator copy.
      'docs/deploy/muster@.service',
      'docs/deploy/nginx.conf',
      'docs/operate/grafana-dashboard.json',
      'src/doors/http/haproxy.cfg',
      'src/engine/metrics/alerts.yml',
    ]);
    const isSource = (path: string) => /^(src|test)\/.*\.\w+$/.test(path) && !/\.(yml|cfg)$/.test(path);
    expect(paths.filter((path) => isSource(path) || /generator|\.map$|tsbuildinfo/.test(path))).to.deep.equal([]);
  });

  it('has one command, which says its version and what it can do', async () => {
    expect((await run(command, ['--version'], { env })).stdout).to.equal(`${version}\n`);
    const { stdout } = await muster(['--help'], {});
    expect(stdout).to.match(/^Usage: muster /);
    for (const noun of ['serve', 'org', 'space', 'key', 'audit', 'snapshot'])
      expect(stdout).to.match(new RegExp(`^  ${noun} `, 'm'));
  });

  it('serves the API, the console and the documentation, and stops', async () => {
    const server = spawn(command, ['serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
    endAtExit(server);
    let said = '';
    server.stdout.on('data', (text) => {
      said += text;
    });
    while (!/^listening on (.*)$/m.test(said)) await once(server.stdout, 'data');
    const [, url = ''] = /^listening on (.*)$/m.exec(said) ?? [];
    for (const path of [
      '/console',
      '/console/main.js',
      '/docs',
      '/docs/quickstart',
      '/docs/api',
      '/llms.txt',
      '/openapi.json',
    ])
      expect((await fetch(`${url}${path}`)).status, path).to.equal(200);
    const { stdout, stderr } = await run(command, ['org', 'list'], { cwd: folder, env });
    expect([stdout.match(/\n/g)?.length, stderr]).to.deep.equal([1, '']);
    expect(JSON.parse(stdout).organizations).to.have.length(1);
    server.kill('SIGTERM');
    expect(await once(server, 'close')).to.deep.equal([0, null]);
  });
});

describe('a result on a terminal', () => {
  it('is a table of a list, and lines of a record', () => {
    const list = { keys: [{ id: 'a', spaces: ['x', 'y'], revokedAt: null }], nextCursor: null };
    expect(table(list)).to.equal('id  spaces  revokedAt\na   x,y     -\n');
    expect(table({ keys: [], nextCursor: 'c' })).to.equal('no keys\n\nnextCursor  c\n');
    expect(table({ org: 'acme', usage: { spaces: 2 } })).to.equal('org           acme\nusage.spaces  2\n');
  });

  it('shows what would control the terminal, and keeps each row on its line', () => {
    const texts = ['one\r\ntwo\tthree', '\x1b]0;title\x07', '\x9b8m', 'a\u202eb'];
    const shown = 'one two three,<U+001B>]0;title<U+0007>,<U+009B>8m,a<U+202E>b';
    expect(table({ questions: [{ texts }] })).to.equal(`texts\n${shown}\n`);
    expect(table({ answer: { 'a\u202eb': texts[1] } })).to.equal('answer.a<U+202E>b  <U+001B>]0;title<U+0007>\n');
    expect(table({ questions: [{ question: [{ text: '\x9b8m' }] }] })).to.include('{"text":"<U+009B>8m"}');
    expect(table('\x1b[8m')).to.equal('<U+001B>[8m\n');
  });
});

describe('the deployment examples', () => {
  const read = (name: string) => readFile(join(root, 'docs/deploy', name), 'utf8');

  it('Kubernetes: two APIs and one worker, with probes and settings that the service takes', async () => {
    const documents = parseAllDocuments(await read('kubernetes.yaml')).map((one) => one.toJS());
    const deployments = documents.filter(({ kind }) => kind === 'Deployment');
    const shape = deployments.map(({ spec }) => {
      const [container] = spec.template.spec.containers;
      const settings = Object.fromEntries(
        container.env.map((one: { name: string; value?: string }) => [one.name, one.value ?? 'redis://redis:6379']),
      );
      const probes = [container.readinessProbe, container.livenessProbe].map(({ httpGet }) => httpGet.path);
      return [readConfig(settings).role, spec.replicas, probes];
    });
    expect(shape).to.deep.equal([
      ['api', 2, ['/readyz', '/healthz']],
      ['worker', 1, ['/readyz', '/healthz']],
    ]);
  });

  it('systemd: runs the command with settings that the service takes', async () => {
    const text = await read('muster.service');
    expect(text).to.match(/^ExecStart=\/usr\/bin\/env muster serve$/m);
    const [, line = ''] = /^Environment=(.*)$/m.exec(text) ?? [];
    const settings = Object.fromEntries(line.split(' ').map((pair) => pair.split('=')));
    expect(readConfig(settings).dataDir).to.equal('/var/lib/muster');
  });
});
