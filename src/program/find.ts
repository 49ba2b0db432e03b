import { type ExecFileException, execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { libraryFolders, unpackWithApt } from './apt.ts';

const run = promisify(execFile);

/** A program of others that the project runs: how to find it, and where it comes from when it is not there. */
export interface ProgramKind {
  /** As it is called in messages. */
  readonly label: string;
  /** The same with what is asked of it, such as `redis-server 7 or newer`. */
  readonly wanted: string;
  /** The environment variable that names one. */
  readonly variable: string;
  /** What it may be called on PATH, best first. */
  readonly names: readonly string[];
  /** The distribution's packages, and the program's place in them. */
  readonly packages: readonly string[];
  readonly path: string | ((root: string) => Promise<string>);
  /** What an unpacked one needs in its environment besides its libraries. */
  readonly environment?: (root: string) => NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>;
  /** What makes it print its version; default `--version`. */
  readonly versionFlag?: string;
  /** The version in what it prints then; throws what is wrong with it. */
  readonly versionIn: (printed: string) => string;
  /** What a person can do where none can be had. */
  readonly whatToDo: string;
}

/** A program that has been seen to run, and the environment to run it in. */
export interface Program {
  command: string;
  env: NodeJS.ProcessEnv;
  /** as the program says, such as `7.0.15` */
  version: string;
}

export interface Place {
  log(line: string): void;
  /** read for the kind's variable and PATH, and handed on to the program */
  env: NodeJS.ProcessEnv;
  /** where the set-up keeps what it fetched */
  folder: string;
}

/**
 * Finds a program: the one that its variable names, else one on PATH, else the project's own in `folder`, which is
 * fetched from the distribution's packages when it is not there yet. Needs no root.
 *
 * @throws Error with one line saying what to install or set
 */
export async function findProgram(kind: ProgramKind, place: Place): Promise<Program> {
  const named = place.env[kind.variable]?.trim();
  if (named) {
    return checked(kind, named, place.env).catch((error: unknown) => {
      throw new Error(`${kind.variable}=${named} cannot be used: ${reason(error)}`);
    });
  }
  return (await onPath(kind, place)) ?? (await unpacked(kind, place)) ?? (await setUp(kind, place));
}

/**
 * Fetches the distribution's packages into `folder`. Two processes may do so at once, and either may be killed at
 * any moment: each works in a folder of its own, and what runs is renamed into place.
 *
 * @throws Error with one line saying what to install or set
 */
export async function setUp(kind: ProgramKind, place: Place): Promise<Program> {
  const { env, folder, log } = place;
  let work = '';
  try {
    if (!(await isOnPath('apt-get', env)) || !(await isOnPath('dpkg-deb', env))) throw new Error('no apt-get here');
    log(`no ${kind.wanted} found: fetching the distribution's package into ${folder} (no root needed)`);
    const begun = performance.now();
    await mkdir(folder, { recursive: true });
    await removeLeftovers(folder);
    work = await mkdtemp(join(folder, 'work-'));
    const packages = await unpackWithApt(kind.packages, work, env, log);
    await unpackedAt(kind, join(work, 'root'), env);
    const program = await putInPlace(kind, work, place);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    log(`${kind.label} ${program.version} is ready in ${folder} (${packages.length} packages, ${seconds} s)`);
    return program;
  } catch (error) {
    throw new Error(`no usable ${kind.label}, and none could be fetched (${reason(error)}): ${kind.whatToDo}`);
  } finally {
    if (work) await rm(work, { recursive: true, force: true });
  }
}

async function onPath(kind: ProgramKind, { env, log }: Place): Promise<Program | null> {
  for (const name of kind.names) {
    for (const command of await allOf(name, env)) {
      try {
        return await checked(kind, command, env);
      } catch (error) {
        log(`passing over ${command}: ${reason(error)}`);
      }
    }
  }
  return null;
}

/** What a former set-up left; one that no longer runs (another base image, say) counts as not there. */
async function unpacked(kind: ProgramKind, { folder, env }: Place): Promise<Program | null> {
  return unpackedAt(kind, join(folder, 'root'), env).catch(() => null);
}

async function unpackedAt(kind: ProgramKind, root: string, env: NodeJS.ProcessEnv): Promise<Program> {
  const folders = [...(await libraryFolders(root)), env['LD_LIBRARY_PATH']].filter(Boolean);
  const own = { ...env, LD_LIBRARY_PATH: folders.join(':'), ...(await kind.environment?.(root)) };
  const path = typeof kind.path === 'string' ? kind.path : await kind.path(root);
  return checked(kind, join(root, path), own);
}

async function putInPlace(kind: ProgramKind, work: string, place: Place): Promise<Program> {
  const root = join(place.folder, 'root');
  // Another process may have been faster: its files may be in use already, so they stay.
  const theirs = await unpacked(kind, place);
  if (theirs) return theirs;
  await rename(root, join(work, 'unusable')).catch(() => undefined);
  await rename(join(work, 'root'), root).catch(() => undefined);
  return unpackedAt(kind, root, place.env);
}

/** Work folders of set-ups that were killed; an hour is far longer than any set-up takes. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!name.startsWith('work-')) continue;
    const info = await stat(path).catch(() => null);
    if (info && Date.now() - info.mtimeMs > 3_600_000) await rm(path, { recursive: true, force: true });
  }
}

async function checked(kind: ProgramKind, command: string, env: NodeJS.ProcessEnv): Promise<Program> {
  const { versionIn, versionFlag = '--version' } = kind;
  const { stdout } = await run(command, [versionFlag], { env, timeout: 10_000 }).catch((error: ExecFileException) => {
    throw new Error(howItEnded(versionFlag, error));
  });
  return { command, env, version: versionIn(stdout) };
}

async function isOnPath(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return (await allOf(name, env)).length > 0;
}

async function allOf(name: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const found: string[] = [];
  for (const folder of (env['PATH'] ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, name);
    if (await isProgram(path)) found.push(path);
  }
  return found;
}

async function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** How a program ended that should have printed its version, with the last that it said. */
function howItEnded(flag: string, { code, signal, message, stdout = '', stderr = '' }: ExecFileException): string {
  if (String(code) === 'ENOENT') return 'there is no such program';
  if (String(code) === 'EACCES') return 'this user may not run it';
  if (typeof code !== 'number' && !signal) return message;
  const last = `${stdout}\n${stderr}`.trim().split('\n').at(-1);
  const end = signal ? `was ended by ${signal}` : `ended with status ${code}`;
  return `with ${flag} it ${end} and ${last ? `said: ${last}` : 'said nothing'}`;
}

/** One line of an error; of a program that failed, its own last words. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = 'stderr' in error ? String(error.stderr).trim() : '';
  return (said || error.message).split('\n').at(-1) ?? '';
}
