// Makes what a tag publishes, in release/: the packages of the server and the client for npm, wheel and sdist for Python,
// and the section of the changelog. Each is then installed into an empty folder and started from there. Publishes nothing:
// `npm run release` tries what is there now, `npm run release -- v1.2.3` also insists on that version everywhere.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const release = join(root, 'release');
const scratch = mkdtempSync(join(tmpdir(), 'muster-release-'));
const python = process.env.PYTHON ?? 'python3';
const [tag] = process.argv.slice(2);

const run = (cwd, program, ...words) =>
  execFileSync(program, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
const read = (path) => readFileSync(join(root, path), 'utf8');
const folder = (...names) => {
  const path = join(...names);
  mkdirSync(path, { recursive: true });
  return path;
};

/** The version that all packages have; it is the tag's, if there is one. */
function versionOf() {
  const versions = {
    'package.json': JSON.parse(read('package.json')).version,
    'src/client/package.json': JSON.parse(read('src/client/package.json')).version,
    'src/client/python/pyproject.toml': /^version = "(.*)"$/m.exec(read('src/client/python/pyproject.toml'))?.[1],
    'docs/deploy/chart/Chart.yaml': /^appVersion: (.*)$/m.exec(read('docs/deploy/chart/Chart.yaml'))?.[1],
  };
  const wanted = tag?.replace(/^v/, '') ?? versions['package.json'];
  for (const [path, version] of Object.entries(versions))
    if (version !== wanted) throw new Error(`${path} has version ${version}, not ${wanted}`);
  return wanted;
}

/** The changelog's section of the version; of what is unreleased, if there is no tag. */
function notesOf(version) {
  const title = tag === undefined ? 'Unreleased' : version;
  const section = read('CHANGELOG.md')
    .split(/^## /m)
    .find((one) => one.startsWith(`[${title}]`));
  const notes = section?.slice(section.indexOf('\n')).trim();
  if (!notes) throw new Error(`CHANGELOG.md has no section [${title}]`);
  return notes;
}

/** Packs a package without what only a checkout needs. */
function packed(name, cwd) {
  const home = folder(scratch, name);
  const [{ filename }] = JSON.parse(
    run(cwd, 'npm', 'pack', '--json', '--ignore-scripts', '--pack-destination', scratch),
  );
  run(scratch, 'tar', 'xzf', filename, '--strip-components=1', '-C', home);
  const {
    private: _,
    scripts,
    workspaces,
    devDependencies,
    overrides,
    ...manifest
  } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = process.env;
  // Provenance is checked against it.
  if (repository) manifest.repository = { type: 'git', url: `git+${server}/${repository}.git` };
  writeFileSync(join(home, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const [made] = JSON.parse(run(home, 'npm', 'pack', '--json', '--pack-destination', folder(release, 'npm')));
  return join(release, 'npm', made.filename);
}

/** Installs a package into an empty folder, which it answers. */
function installed(name, file) {
  const home = folder(scratch, `${name}-installed`);
  writeFileSync(join(home, 'package.json'), '{}');
  run(home, 'npm', 'install', '--no-audit', '--no-fund', '--silent', file);
  return home;
}

/** Starts the server with a store of its own, until it listens. */
async function serves(home) {
  const child = spawn(join(home, 'node_modules/.bin/muster'), ['serve'], {
    cwd: home,
    env: { ...process.env, REDIS_URL: '', PORT: '0', DATA_DIR: join(home, 'data') },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let said = '';
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => {
      said += text;
      if (/^listening on /m.test(said)) resolve();
    });
    child.once('exit', (status) => reject(new Error(`muster serve ended with ${status}: ${said}`)));
  });
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
}

try {
  const version = versionOf();
  const notes = notesOf(version);
  rmSync(release, { recursive: true, force: true });
  run(root, process.execPath, 'src/build/build.mjs');

  const server = installed('server', packed('server', root));
  const printed = run(server, join(server, 'node_modules/.bin/muster'), '--version').trim();
  if (printed !== version) throw new Error(`muster --version prints ${printed}, not ${version}`);
  await serves(server);

  const client = installed('client', packed('client', join(root, 'src/client')));
  run(
    client,
    process.execPath,
    '--input-type=module',
    '-e',
    "import { createMuster, Worker } from 'muster-client'; import { testServer } from 'muster-client/testing'; if (!createMuster || !Worker || !testServer) process.exit(1)",
  );

  const wheels = folder(release, 'python');
  const source = folder(scratch, 'python');
  cpSync(join(root, 'src/client/python'), source, { recursive: true });
  run(
    source,
    python,
    '-c',
    `import build_wheel as b; b.build_wheel(${JSON.stringify(wheels)}); b.build_sdist(${JSON.stringify(wheels)})`,
  );
  const target = folder(scratch, 'python-installed');
  for (const file of readdirSync(wheels))
    run(
      target,
      python,
      '-m',
      'pip',
      'install',
      '--quiet',
      '--no-index',
      '--upgrade',
      '--target',
      target,
      join(wheels, file),
    );
  run(
    target,
    python,
    '-c',
    'import muster, muster.testing; muster.Worker, muster.AsyncWorker, muster.testing.TestServer',
  );

  writeFileSync(join(release, 'notes.md'), `${notes}\n`);
  console.log(`${tag ?? `a dry run of v${version}`} publishes:`);
  for (const kind of ['npm', 'python'])
    for (const file of readdirSync(join(release, kind))) console.log(`  ${kind}: ${file}`);
  console.log(
    `  an image of Dockerfile, which is not built here\n  the notes in release/notes.md: ${notes.split('\n').length} lines`,
  );
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true });
}
