import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Downloads packages of the distribution with apt, without root, and unpacks them into `work`/root. Writes only to `work`.
 *
 * apt resolves dependencies, so it includes exactly the shared libraries that this system lacks or has in too old a version,
 * on a full system as well as in a slim image.
 *
 * @param packages downloaded even if the system has them
 * @param work an existing, empty folder, which the caller removes
 * @returns the names of the unpacked package files
 * @throws Error with apt's or dpkg-deb's error on one line
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
    // A fresh image has no package lists, and an old one lists packages that no longer exist. Only root may update the
    // system's lists.
    log(`the system's package lists are missing or outdated: downloading new ones into ${state}`);
    const options = ['-o', `Dir::State=${state}`];
    // A distribution's hook may fail without root even though the lists were updated; the download will tell.
    const update = await apt('update', ...options).then(
      () => '',
      (error: unknown) => oneLine(error),
    );
    await download(...options).catch((error: unknown) => {
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
 * The folders with shared libraries below an unpacked root, for LD_LIBRARY_PATH. They include private subfolders of packages,
 * which libraries refer to by an absolute path that only exists after a real installation.
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
    // apt only writes to our folders, so it does not need the locks that only root can take
    'Debug::NoLocking': 'true',
    // as root, apt would switch to the user _apt, who cannot write to our folder
    'APT::Sandbox::User': 'root',
    'APT::Install-Recommends': 'false',
    'APT::Get::Assume-Yes': 'true',
    'APT::Get::Download-Only': 'true',
    // download a package even if it is installed, but unusable
    'APT::Get::ReInstall': 'true',
    // otherwise an update without network would succeed
    'APT::Update::Error-Mode': 'any',
    'Acquire::Retries': '1',
    'Acquire::http::Timeout': '20',
  };
  return Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
}

/** Keeps the system's C library: another one that does not match the loader would crash every program. */
function isWanted(file: string): boolean {
  return file.endsWith('.deb') && !/^libc6[_-]/.test(file);
}

function plain(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, LC_ALL: 'C', DEBIAN_FRONTEND: 'noninteractive' };
}

/** A failed command's error: apt's first "E:" line, or else the last line. */
function oneLine(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
  const lines = said.split('\n').filter(Boolean);
  const line = lines.find((text) => text.startsWith('E:')) ?? lines.at(-1);
  return line ?? (error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error));
}
