import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { libraryFolders, unpackRedisWithApt } from './apt.ts';

const run = promisify(execFile);

const OLDEST_MAJOR = 7;
const NAMES = ['redis-server', 'valkey-server'];
const WHAT_TO_DO =
  'install Redis 7 or newer (apt install redis-server, dnf install redis, apk add redis, brew install redis), ' +
  'or set REDIS_SERVER to a redis-server program, or REDIS_URL to a running Redis';

/** A redis-server (or valkey-server) that has been seen to run, and the environment to run it in. */
export interface RedisServer {
  command: string;
  env: NodeJS.ProcessEnv;
  /** as the program says, such as `7.0.15` */
  version: string;
}

export interface FindOptions {
  log(line: string): void;
  /** read for REDIS_SERVER and PATH, and handed on to the server; default `process.env` */
  env?: NodeJS.ProcessEnv | undefined;
  /** where the set-up keeps what it fetched; default `.redis` in the project */
  folder?: string | undefined;
}

/**
 * Finds a redis-server of version 7 or newer: the one REDIS_SERVER names, else one on PATH, else the project's own
 * in `.redis/`, which is fetched from the distribution's packages when it is not there yet. Needs no root.
 *
 * @throws Error with one line saying what to install or set
 */
export async function findRedisServer(options: FindOptions): Promise<RedisServer> {
  const { log, env = process.env, folder = fileURLToPath(new URL('../../.redis', import.meta.url)) } = options;
  if (env['REDIS_SERVER']) return named(env['REDIS_SERVER'], env);
  return (await onPath(env, log)) ?? (await unpacked(folder, env)) ?? (await setUp(folder, env, log));
}

/**
 * Fetches the distribution's redis-server into `folder`. Two processes may do so at once, and either may be killed at
 * any moment: each works in a folder of its own, and what runs is renamed into place.
 *
 * @throws Error with one line saying what to install or set
 */
export async function setUp(folder: string, env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<RedisServer> {
  let work = '';
  try {
    if (!(await onAnyOf('apt-get', env)) || !(await onAnyOf('dpkg-deb', env))) throw new Error('no apt-get here');
    log(
      `no redis-server ${OLDEST_MAJOR} or newer found: fetching the distribution's package into ${folder} (no root needed)`,
    );
    const begun = performance.now();
    await mkdir(folder, { recursive: true });
    await removeLeftovers(folder);
    work = await mkdtemp(join(folder, 'work-'));
    const packages = await unpackRedisWithApt(work, env, log);
    await unpackedAt(join(work, 'root'), env);
    const server = await putInPlace(work, folder, env);
    const seconds = ((performance.now() - begun) / 1000).toFixed(1);
    log(`redis-server ${server.version} is ready in ${folder} (${packages.length} packages, ${seconds} s)`);
    return server;
  } catch (error) {
    throw new Error(`no usable redis-server, and none could be fetched (${reason(error)}): ${WHAT_TO_DO}`);
  } finally {
    if (work) await rm(work, { recursive: true, force: true });
  }
}

async function named(command: string, env: NodeJS.ProcessEnv): Promise<RedisServer> {
  try {
    return await checked(command, env);
  } catch (error) {
    throw new Error(`REDIS_SERVER=${command} cannot be used: ${reason(error)}`);
  }
}

async function onPath(env: NodeJS.ProcessEnv, log: (line: string) => void): Promise<RedisServer | null> {
  for (const name of NAMES) {
    for (const command of await allOf(name, env)) {
      try {
        return await checked(command, env);
      } catch (error) {
        log(`passing over ${command}: ${reason(error)}`);
      }
    }
  }
  return null;
}

/** What a former set-up left; one that no longer runs (another base image, say) counts as not there. */
async function unpacked(folder: string, env: NodeJS.ProcessEnv): Promise<RedisServer | null> {
  return unpackedAt(join(folder, 'root'), env).catch(() => null);
}

async function unpackedAt(root: string, env: NodeJS.ProcessEnv): Promise<RedisServer> {
  const folders = [...(await libraryFolders(root)), env['LD_LIBRARY_PATH']].filter(Boolean);
  return checked(join(root, 'usr/bin/redis-server'), { ...env, LD_LIBRARY_PATH: folders.join(':') });
}

async function putInPlace(work: string, folder: string, env: NodeJS.ProcessEnv): Promise<RedisServer> {
  const root = join(folder, 'root');
  // Another process may have been faster: its files may be in use already, so they stay.
  const theirs = await unpacked(folder, env);
  if (theirs) return theirs;
  await rename(root, join(work, 'unusable')).catch(() => undefined);
  await rename(join(work, 'root'), root).catch(() => undefined);
  return unpackedAt(root, env);
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

async function checked(command: string, env: NodeJS.ProcessEnv): Promise<RedisServer> {
  const { stdout } = await run(command, ['--version'], { env, timeout: 10_000 });
  const version = /\b(?:Redis|Valkey) server v=(\d+[\d.]*)/i.exec(stdout)?.[1];
  if (!version) throw new Error('its --version is not that of a Redis or Valkey server');
  if (Number.parseInt(version, 10) < OLDEST_MAJOR) {
    throw new Error(`its version is ${version}, and ${OLDEST_MAJOR} or newer is needed`);
  }
  return { command, env, version };
}

async function onAnyOf(name: string, env: NodeJS.ProcessEnv): Promise<boolean> {
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

/** One line of an error; of a program that failed, its own last words. */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = 'stderr' in error ? String(error.stderr).trim() : '';
  return (said || error.message).split('\n').at(-1) ?? '';
}
