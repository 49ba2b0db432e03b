import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { endAtExit } from '../external-programs/at-exit.ts';
import { identify, isAlive, type ProcessIdentity, pidOf } from './process-identity.ts';
import type { RedisServer } from './server-binary.ts';

const LOG = 'redis.log';
const LARGEST_LOG_BYTES = 1024 * 1024;
const COMMAND_TIMEOUT_MS = 10_000;

/** Default settings of an embedded server; `settings` may override or add to them. */
const DEFAULTS: Record<string, string> = {
  save: '',
  appendonly: 'yes',
  appendfsync: 'everysec',
  'aof-load-truncated': 'yes',
  'maxmemory-policy': 'noeviction',
  // At the default of ten background cycles a second, an idle server uses 0.2 % of a core.
  hz: '5',
  // Small records with a payload stay in the compact encoding (a group's task with its result has 17 fields). Organizations
  // and spaces do not: every call reads a dozen of their fields, and each read searches a listpack from the start.
  'hash-max-listpack-entries': '17',
  'hash-max-listpack-value': '1024',
};

interface SpawnOptions {
  program: RedisServer;
  dataDir: string;
  socketPath: string;
  settings: Record<string, string>;
  /** see EmbeddedOptions */
  outlivesProcess?: boolean | undefined;
}

/** A server waiting for its socket path. */
interface Spawned {
  server: ProcessIdentity;
  listen(): void;
}

/**
 * Starts a redis-server in `dataDir`. It does not answer yet: see `whenReady`.
 *
 * It reads its socket path from stdin, which is written only after the process is recorded. If this process is killed before
 * that, the server has nowhere to listen and exits, instead of running unrecorded beside the next one.
 *
 * It runs in its own session, so that Ctrl-C in our terminal does not stop it during our shutdown.
 *
 * @throws Error when the program cannot be started
 */
export async function spawnRedis(options: SpawnOptions): Promise<Spawned> {
  const { program, dataDir, socketPath } = options;
  const fixed = {
    port: '0',
    unixsocketperm: '700',
    dir: dataDir,
    daemonize: 'no',
    logfile: '',
  };
  const settings = { ...DEFAULTS, ...options.settings, ...fixed };
  const words = ['-', ...Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value])];
  const path = join(dataDir, LOG);
  const size = await stat(path).then(
    (info) => info.size,
    () => 0,
  );
  if (size > LARGEST_LOG_BYTES) await rename(path, `${path}.1`);
  // It logs to stdout, so that errors about settings and missing libraries are in the same file.
  const log = await open(path, 'a', 0o600);
  try {
    const stdio = ['pipe' as const, log.fd, log.fd];
    const child = privately(() =>
      spawn(program.command, words, { cwd: dataDir, env: program.env, detached: true, stdio }),
    );
    // It may exit without reading, which is detected from the process.
    child.stdin?.on('error', () => undefined);
    if (!options.outlivesProcess) endAtExit(child);
    await once(child, 'spawn');
    child.unref();
    const server = (child.pid && identify(child.pid)) || `${child.pid ?? 0}-ended`;
    return { server, listen: () => void child.stdin?.end(`unixsocket ${JSON.stringify(socketPath)}\n`) };
  } finally {
    await log.close();
  }
}

/** Starts a process whose files are accessible to this user only, as Redis gives them no mode of their own. */
function privately<T>(start: () => T): T {
  const before = process.umask(0o077);
  try {
    return start();
  } finally {
    process.umask(before);
  }
}

/**
 * Opens a connection that never reconnects; it emits `end` once when the server closes it.
 *
 * @returns null when nothing listens there
 */
export async function connect(socketPath: string): Promise<Redis | null> {
  const link = new Redis({
    path: socketPath,
    lazyConnect: true,
    enableReadyCheck: false,
    protocol: 2,
    disableClientInfo: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: COMMAND_TIMEOUT_MS,
    // ioredis would otherwise wait two seconds for a connection that ended or never opened.
    disconnectTimeout: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  // The promises report failures; an unhandled 'error' event would be printed.
  link.on('error', () => undefined);
  try {
    await link.connect();
    return link;
  } catch {
    link.disconnect();
    return null;
  }
}

/**
 * Waits for a server to exit.
 *
 * @returns whether it did within `timeoutMs`
 */
export async function hasEnded(server: ProcessIdentity, timeoutMs: number): Promise<boolean> {
  for (const deadline = Date.now() + timeoutMs; isAlive(server); await sleep(10)) {
    if (Date.now() > deadline) return false;
  }
  return true;
}

/**
 * Ends a server with SIGTERM, and with SIGKILL if it is still running after `timeoutMs`.
 */
export async function endProcess(server: ProcessIdentity, timeoutMs: number): Promise<void> {
  signal(server, 'SIGTERM');
  if (await hasEnded(server, timeoutMs)) return;
  signal(server, 'SIGKILL');
  await hasEnded(server, timeoutMs);
}

/** The last lines of the server's log on one line, with the file's path. */
export async function logTail(dataDir: string): Promise<string> {
  const path = join(dataDir, LOG);
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  // Every start logs long warnings about system settings.
  const relevant = lines.filter((line) => line !== '' && !line.includes(' # WARNING '));
  return `${relevant.slice(-4).join(' | ')} (${path})`;
}

function signal(server: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (isAlive(server)) process.kill(pidOf(server), name);
  } catch {
    // The server has just exited.
  }
}

/** Adds the server's log to the error of a command that it did not answer. */
export function explained<T>(dataDir: string, reply: Promise<T>): Promise<T> {
  return reply.catch(async ({ message }: Error) => {
    throw new Error(`the embedded redis-server does not answer (${message}): ${await logTail(dataDir)}`);
  });
}

/** The server process of a connection, even if a wrapper script started it. */
export async function serverOf(link: Redis): Promise<ProcessIdentity> {
  const pid = Number(/process_id:(\d+)/.exec(await link.info('server'))?.[1]);
  return identify(pid) ?? `${pid}-ended`;
}

interface ServerStatus {
  readonly server: ProcessIdentity;
  /** Everything is on disk. On a full disk, even a clean shutdown loses the rest. */
  readonly isWritten: boolean;
}

/** A server's status before it is stopped; null when it has just exited. */
export async function statusOf(dataDir: string, link: Redis): Promise<ServerStatus | null> {
  try {
    const server = await serverOf(link);
    return { server, isWritten: (await link.info('persistence')).includes('aof_last_write_status:ok') };
  } catch (error) {
    if (link.status === 'end') return null;
    return explained(dataDir, Promise.reject(error));
  }
}
