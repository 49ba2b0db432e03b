// Builds dist/ from src/, as `npm run build` and before `npm start`; ends at once where nothing has changed since. A
// process may run from dist/ meanwhile: all is built in .build/, and only files that differ take the place of theirs,
// each by a rename. Plain JavaScript, so that it starts in a moment.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [source, staged, built] = ['src', '.build', 'dist'].map((name) => join(root, name));
/** The client is also a package of its own. */
const client = { staged: join(staged, 'client'), built: join(source, 'client/dist') };
const require = createRequire(import.meta.url);
/** The hash of what it was built from. Written last: a build that was interrupted is begun again. */
const stamp = join(built, '.built');
const lock = join(staged, '.lock');

/** The files below a folder, sorted; dependencies, and what the build itself makes, left out. */
function filesOf(folder) {
  const found = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return ['node_modules', 'generated', 'dist', 'python'].includes(entry.name) ? [] : filesOf(path);
    // The build copies the licence to the client.
    return entry.name === 'LICENSE' ? [] : [path];
  });
  return found.sort();
}

function hashOfSources() {
  const hash = createHash('sha256');
  const settings = ['package-lock.json', 'package.json', 'tsconfig.json', 'tsconfig.build.json'];
  for (const path of [...settings.map((name) => join(root, name)), ...filesOf(source)])
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0');
  return hash.digest('hex');
}

const isBuilt = (hash) => existsSync(client.built) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash;

/** One build at a time; one that died does not keep others out. */
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

function stage() {
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc');
  run(['--import', 'tsx'], 'src/generator/main.ts', '--typescript');
  run([tsc], '-p', 'tsconfig.build.json');
  run([tsc], '-p', 'src/console/browser');
  for (const path of filesOf(join(source, 'console/browser')).filter((path) => /\.(html|css|svg)$/.test(path)))
    cpSync(path, join(staged, relative(source, path)));
  // What is installed to run needs neither this package nor what it depends on.
  const library = dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const name of [
    'swagger-ui-bundle.js',
    'swagger-ui.css',
    'LICENSE',
    'NOTICE',
    'swagger-ui-bundle.js.LICENSE.txt',
  ])
    cpSync(join(library, name), join(staged, 'docs/swagger-ui', name));
}

/** The compiler leaves the outputs of files that are gone. */
function isOfSource(path) {
  const [, name] = /^(.*)\.(?:js|js\.map|d\.ts)$/.exec(path) ?? [];
  return name === undefined || path.startsWith('docs/swagger-ui/') || existsSync(join(source, `${name}.ts`));
}

function allOf(folder) {
  if (!existsSync(folder)) return [];
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return all.map((entry) => relative(folder, join(entry.parentPath, entry.name))).filter((path) => !/^\./.test(path));
}

function publish(staged, built, wanted) {
  for (const path of wanted) {
    const [from, to] = [join(staged, path), join(built, path)];
    const text = readFileSync(from);
    if (existsSync(to) && readFileSync(to).equals(text)) continue;
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(`${to}.new`, text);
    renameSync(`${to}.new`, to);
  }
  for (const path of allOf(built)) if (!wanted.has(path)) rmSync(join(built, path));
}

const hash = hashOfSources();
if (!isBuilt(hash)) {
  await takeLock();
  try {
    if (!isBuilt(hash)) {
      rmSync(stamp, { force: true });
      stage();
      const wanted = allOf(staged).filter(isOfSource);
      publish(staged, built, new Set(wanted));
      const ofClient = wanted.flatMap((path) => (path.startsWith('client/') ? [path.slice('client/'.length)] : []));
      publish(client.staged, client.built, new Set(ofClient));
      cpSync(join(root, 'LICENSE'), join(source, 'client/LICENSE'));
      writeFileSync(stamp, hash);
    }
  } catch (error) {
    // The compiler has said what is wrong.
    if (error.status === undefined) throw error;
    process.exitCode = 1;
  } finally {
    rmSync(lock, { force: true });
  }
}
