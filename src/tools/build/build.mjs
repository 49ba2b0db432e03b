// Builds dist/ from src/, for `npm run build` and before `npm start`; ends at once if nothing has changed. A process may be
// running from dist/ meanwhile, so everything is built in .build/, and only files that differ are renamed into place. The
// server is bundled with its dependencies: it starts in two thirds of the time, and installing it installs nothing else. This
// is plain JavaScript, so that it starts in a moment.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [source, staged, built] = ['src', '.build', 'dist'].map((name) => join(root, name));
const pages = join(source, 'pages');
const client = { staged: join(staged, 'clients'), built: join(source, 'clients/typescript/dist') };
const pythonCalls = join(source, 'clients/python/muster/_calls.py');
const require = createRequire(import.meta.url);
/**
 * The hash of the sources, then the bundled packages, one a line, for the bill of materials of a release. Written last, so
 * that an interrupted build starts again.
 */
const stamp = join(built, '.built');
const lock = join(staged, '.lock');

/** The files below a folder, sorted, without dependencies and build results. */
function filesOf(folder) {
  const found = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return ['node_modules', 'generated', 'dist', 'python'].includes(entry.name) ? [] : filesOf(path);
    // The build copies the licence to the clients.
    return entry.name === 'LICENSE' ? [] : [path];
  });
  return found.sort();
}

function hashOfSources() {
  const hash = createHash('sha256');
  const settings = ['package-lock.json', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];
  const texts = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'src/clients/python/README.md'];
  const others = [...settings, ...texts].map((name) => join(root, name));
  for (const path of [...others, ...['src', 'docs', 'lua'].flatMap((name) => filesOf(join(root, name)))])
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  return hash.digest('hex');
}

const isBuilt = (hash) =>
  existsSync(client.built) &&
  existsSync(pythonCalls) &&
  existsSync(stamp) &&
  readFileSync(stamp, 'utf8').split('\n')[0] === hash;

/** Only one build runs at a time. The lock of a dead one does not keep others out. */
async function takeLock() {
  mkdirSync(staged, { recursive: true });
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isRunning(existsSync(lock) && Number(readFileSync(lock, 'utf8')))) rmSync(lock, { force: true });
    else await sleep(50);
  }
}

function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

function run(program, ...words) {
  execFileSync(process.execPath, [...program, ...words], { cwd: root, stdio: 'inherit' });
}

/** The programs to start directly, by their place in dist/; `bin` starts the others. */
const programs = {
  main: 'main.ts',
  'cli/bin': 'cli/bin.ts',
  'cli/main': 'cli/main.ts',
};

/** Returns the bundled files. */
async function bundle() {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: Object.fromEntries(Object.entries(programs).map(([name, path]) => [name, join(source, path)])),
    outdir: staged,
    bundle: true,
    splitting: true,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    metafile: true,
    logLevel: 'error',
    // CommonJS packages `require` Node's own modules.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return Object.keys(metafile.inputs);
}

/** Bundles each page's scripts and styles, so that it loads one file of each. Returns the bundled files. */
async function bundlePages() {
  const { build } = await import('esbuild');
  const { metafile } = await build({
    entryPoints: [
      'console/browser/main.ts',
      'console/browser/sign-in.ts',
      'console/browser/console.css',
      'docs/browser/docs.ts',
      'docs/browser/docs.css',
      'docs/browser/api/page.ts',
      'docs/browser/api/page.css',
    ].map((path) => join(pages, path)),
    outbase: pages,
    outdir: staged,
    bundle: true,
    format: 'esm',
    target: 'es2023',
    metafile: true,
    logLevel: 'error',
  });
  return Object.keys(metafile.inputs);
}

/** The packages that these files belong to, with their folders. A package that is installed in several places is listed once. */
function packagesOf(paths) {
  const folders = new Set(paths.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []));
  const packages = [...folders].sort().map((folder) => {
    const manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    return [`${manifest.name}@${manifest.version}`, { ...manifest, folder }];
  });
  return [...new Map(packages).values()];
}

function licencesOf(packages) {
  const texts = packages.map(({ folder, name, version, license }) => {
    const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file ? readFileSync(join(root, folder, file), 'utf8').trim() : `Licence: ${license}`;
    return `${name} ${version}\n\n${text}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** Has the source maps of staged files name the sources from where the files will be. */
function moveMaps(staged, built) {
  for (const path of allOf(staged).filter((path) => path.endsWith('.map'))) {
    const map = JSON.parse(readFileSync(join(staged, path), 'utf8'));
    const seen = (one) => relative(dirname(join(built, path)), join(staged, dirname(path), one));
    writeFileSync(join(staged, path), JSON.stringify({ ...map, sources: map.sources.map(seen) }));
  }
}

/** Returns the packages whose code is in the build. */
async function stage() {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  run(['--import', 'tsx'], 'src/tools/generator/main.ts', '--build', staged);
  run([tsc], '-p', 'tsconfig.build.json');
  run([tsc], '-p', 'src/clients/typescript/testing');
  run([tsc], '-p', 'src/pages/console/browser');
  run([tsc], '-p', 'src/pages/docs/browser');
  const packages = packagesOf([...(await bundle()), ...(await bundlePages())]);
  writeFileSync(join(staged, 'THIRD-PARTY-LICENSES.txt'), licencesOf(packages));
  const assets = ['console/browser', 'docs/browser'].flatMap((folder) => filesOf(join(pages, folder)));
  for (const path of assets.filter((path) => /\.(html|svg)$/.test(path)))
    cpSync(path, join(staged, relative(pages, path)));
  // The installed server needs neither this package nor its dependencies, so package.json maps it to nothing.
  const page = require.resolve('@scalar/api-reference').replace(/dist\/.*/, 'dist/browser/standalone.js');
  cpSync(page, join(staged, 'docs/scalar/scalar.js'));
  cpSync(join(pages, 'docs/scalar.LICENSE.txt'), join(staged, 'docs/scalar/LICENSE'));
  return [...packages, ...packagesOf([relative(root, page)])];
}

function allOf(folder) {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return all.map((entry) => relative(folder, join(entry.parentPath, entry.name))).filter((path) => !/^\./.test(path));
}

function publish(staged, built) {
  const wanted = allOf(staged);
  for (const path of wanted) {
    const [from, to] = [join(staged, path), join(built, path)];
    const text = readFileSync(from);
    if (existsSync(to) && readFileSync(to).equals(text)) continue;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(`${to}.new`, text);
    renameSync(`${to}.new`, to);
  }
  for (const path of allOf(built)) if (!wanted.includes(path)) rmSync(join(built, path));
}

const hash = hashOfSources();
if (!isBuilt(hash)) {
  await takeLock();
  try {
    if (!isBuilt(hash)) {
      rmSync(stamp, { force: true });
      for (const name of readdirSync(staged))
        if (name !== basename(lock)) rmSync(join(staged, name), { recursive: true });
      const packages = await stage();
      moveMaps(join(client.staged, 'typescript'), client.built);
      publish(join(client.staged, 'typescript'), client.built);
      rmSync(client.staged, { recursive: true });
      publish(staged, built);
      for (const folder of ['typescript', 'python'])
        cpSync(join(root, 'LICENSE'), join(source, 'clients', folder, 'LICENSE'));
      writeFileSync(stamp, [hash, ...packages.map(({ name, version }) => `${name}@${version}`)].join('\n'));
    }
  } catch (error) {
    // The compiler has already printed the error.
    if (error.status === undefined) throw error;
    process.exitCode = 1;
  } finally {
    rmSync(lock, { force: true });
  }
}
