import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Fetches packages of the distribution with apt, without root, and unpacks them below `work`/root; nothing outside
 * `work` is written.
 *
 * apt's own resolver chooses what they need, so exactly the shared libraries that this system lacks (or has too old)
 * come along, in a full system as in a slim image.
 *
 * @param packages fetched even where the system has them
 * @param work an existing, empty folder of the caller's, who removes it
 * @returns the names of the unpacked package files
 * @throws Error with one line saying what apt or dpkg-deb said
 */
export async function unpackWithApt(
  packages: readonly string[],
  work: string,
  env: NodeJS.ProcessEnv,
  log: (line: string) => void,
): Promise<string[]> {
  const archives = join(work, 'cache', 'archives');
  const state = join(work, 'state');
  await mkdir(join(archives, 'partial'), { recursive: true });
  await mkdir(join(state, 'lists', 'partial'), { recursive: true });
  const apt = (...args: string[]) => run('apt-get', [...args, ...settings(work)], { ...limits, env: plain(env) });
  const download = (...args: string[]) => apt('install', ...args, ...packages);

  try {
    await download();
  } catch {
    // A fresh image has no package lists, an old one has lists of packages that are gone; the system's are root's to renew.
    log(`the system's package lists are missing or old: reading fresh ones into ${state}`);
    const own = ['-o', `Dir::State=${state}`];
    // A hook of the distribution may fail without root although the lists are there, so the download is the judge.
    const update = await apt('update', ...own).then(
      () => '',
      (error: unknown) => oneLine(error),
    );
    await download(...own).catch((error: unknown) => {
      throw new Error(update || oneLine(error));
    });
  }

  const files = (await readdir(archives)).filter(isWanted);
  const root = join(work, 'root');
  await mkdir(root);
  for (const file of files) {
    await run('dpkg-deb', ['-x', join(archives, file), root], { ...limits, env: plain(env) }).catch(
      (error: unknown) => {
        throw new Error(oneLine(error));
      },
    );
  }
  return files;
}

/**
 * The folders below an unpacked root that hold its shared libraries, for LD_LIBRARY_PATH. A package's libraries may
 * have others of its own in a folder beneath, which they name by its absolute path: one that only a system has.
 */
export async function libraryFolders(root: string): Promise<string[]> {
  const found: string[] = [];
  for (const base of [join(root, 'usr/lib'), join(root, 'lib')]) {
    const shared = (await readdir(base).catch(() => [] as string[])).filter((name) => name.includes('-linux-'));
    for (const folder of shared.map((name) => join(base, name))) found.push(folder, ...(await privateFolders(folder)));
  }
  return found;
}

async function privateFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  const holds = await Promise.all(folders.map(holdsLibraries));
  return folders.filter((_, at) => holds[at]);
}

async function holdsLibraries(folder: string): Promise<boolean> {
  return (await readdir(folder)).some((name) => /^lib.+\.so(\.|$)/.test(name));
}

const limits = { timeout: 300_000, maxBuffer: 16 * 1024 * 1024 };

function settings(work: string): string[] {
  const options = {
    'Dir::Cache': join(work, 'cache'),
    // apt reads the system's state and changes only our folders: it needs none of the locks that only root can take
    'Debug::NoLocking': 'true',
    // as root, apt would drop to the user _apt, who cannot write to our folder
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
    'APT::Get::Assume-Yes': 'true',
    'APT::Get::Download-Only': 'true',
    // one that is installed but unusable (too old a PATH, say) is fetched all the same
    'APT::Get::ReInstall': 'true',
    // otherwise an update without a network would be a success
    'APT::Update::Error-Mode': 'any',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '20',
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** The C library must stay the system's: another one than the loader's would crash every program. */
function isWanted(file: string): boolean {
  return file.endsWith('.deb') && !/^libc6[_-]/.test(file);
}

function plain(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
}

/** The line of a failed command that says why: apt's first "E:" line, else the last one. */
function oneLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const lines = said.split('\n').filter(Boolean);
  const line = lines.find((text) => text.startsWith('E:')) ?? lines.at(-1);
  return line ?? (error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
}
