import { type ExecFileException, execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { libraryFolders, unpackWithApt } from './apt.ts';

const run = promisify(execFile);

/** An external program: how to find it and where to download it. */
export interface ProgramKind {
  /** Its name in messages. */
  readonly label: string;
  /** Its name with the required version, such as `redis-server 7 or newer`. */
  readonly wanted: string;
  /** The environment variable with its path. */
  readonly variable: string;
  /** Its possible names on PATH, in order of preference. */
  readonly names: readonly string[];
  /** The distribution's packages, and the program's path in them. */
  readonly packages: readonly string[];
  readonly path: string | ((root: string) => Promise<string>);
  /** Environment variables for an unpacked program, besides the library path. */
  readonly environment?: (root: string) => NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>;
  /** The flag that prints its version; default `--version`. */
  readonly versionFlag?: string;
  /** Extracts the version from that output; throws if the program cannot be used. */
  readonly versionIn: (printed: string) => string;
  /** Advice when the program cannot be found or downloaded. */
  readonly whatToDo: string;
}

/** A working program, and the environment to run it in. */
export interface Program {
  command: string;
  env: NodeJS.ProcessEnv;
  /** as printed by the program, such as `7.0.15` */
  version: string;
}

export interface ProgramSettings {
  log(line: string): void;
  /** read for the program's variable and PATH, and passed on to the program */
  env: NodeJS.ProcessEnv;
  folder: string;
}

/**
 * Finds a program: the one in its variable, one on PATH, or the project's own in `folder`, downloaded from the
 * distribution's packages on first use. Needs no root.
 *
 * @throws Error with one line saying what to install or set
 */
export async function findProgram(kind: ProgramKind, place: ProgramSettings): Promise<Program> {
  const named = place.env[kind.variable]?.trim();
  if (named) {
    return checked(kind, named, place.env).catch((error: unknown) => {
      throw new Error(`${kind.variable}=${named} cannot be used: ${reason(error)}`);
    });
  }
  return (await onPath(kind, place)) ?? (await unpacked(kind, place)) ?? (await setUp(kind, place));
}

/**
 * Downloads the distribution's packages into `folder`. Concurrent processes are fine, and any of them may be killed at any
 * time: each works in its own folder, which is renamed into place once the program works.
 *
 * @throws Error with one line saying what to install or set
 */
export async function setUp(kind: ProgramKind, place: ProgramSettings): Promise<Program> {
  const { env, folder, log } = place;
  let work = '';
  try {
    if (!(await isOnPath('apt-get', env)) || !(await isOnPath('dpkg-deb', env)))
      throw new Error('apt-get or dpkg-deb is missing');
    log(`no ${kind.wanted} found: downloading the distribution's package into ${folder} (no root needed)`);
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
    throw new Error(
      `no usable ${kind.label} found, and it could not be downloaded (${reason(error)}): ${kind.whatToDo}`,
    );
  } finally {
    if (work) await rm(work, { recursive: true, force: true });
  }
}

async function onPath(kind: ProgramKind, { env, log }: ProgramSettings): Promise<Program | null> {
  for (const name of kind.names) {
    for (const command of await allOf(name, env)) {
      try {
        return await checked(kind, command, env);
      } catch (error) {
        log(`skipping ${command}: ${reason(error)}`);
      }
    }
  }
  return null;
}

/** An earlier download; null if it no longer works, for example on another base image. */
async function unpacked(kind: ProgramKind, { folder, env }: ProgramSettings): Promise<Program | null> {
  return unpackedAt(kind, join(folder, 'root'), env).catch(() => null);
}

async function unpackedAt(kind: ProgramKind, root: string, env: NodeJS.ProcessEnv): Promise<Program> {
  const folders = [...(await libraryFolders(root)), env['LD_LIBRARY_PATH']].filter(Boolean);
  const environment = { ...env, LD_LIBRARY_PATH: folders.join(':'), ...(await kind.environment?.(root)) };
  const path = typeof kind.path === 'string' ? kind.path : await kind.path(root);
  return checked(kind, join(root, path), environment);
}

async function putInPlace(kind: ProgramKind, work: string, place: ProgramSettings): Promise<Program> {
  const root = join(place.folder, 'root');
  // Another process was faster: keep its files, which may be in use.
  const existing = await unpacked(kind, place);
  if (existing) return existing;
  await rename(root, join(work, 'unusable')).catch(() => undefined);
  await rename(join(work, 'root'), root).catch(() => undefined);
  return unpackedAt(kind, root, place.env);
}

/** Removes the work folders of killed downloads. No download takes an hour. */
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
  const { stdout, stderr } = await run(command, [versionFlag], { env, timeout: 10_000 }).catch(
    (error: ExecFileException) => {
      throw new Error(exitReason(versionFlag, error));
    },
  );
  return { command, env, version: versionIn(stdout + stderr) };
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

/** Why a program did not print its version, with its last line of output. */
function exitReason(flag: string, { code, signal, message, stdout = '', stderr = '' }: ExecFileException): string {
  if (String(code) === 'ENOENT') return 'there is no such program';
  if (String(code) === 'EACCES') return 'this user is not allowed to run it';
  if (typeof code !== 'number' && !signal) return message;
  const last = `${stdout}\n${stderr}`.trim().split('\n').at(-1);
  const end = signal ? `was killed by ${signal}` : `exited with status ${code}`;
  return `${flag} ${end} and printed ${last ? `"${last}"` : 'nothing'}`;
}

/** An error on one line; for a failed program, the last line of its stderr. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = 'stderr' in error ? String(error.stderr).trim() : '';
  return (said || error.message).split('\n').at(-1) ?? '';
}
