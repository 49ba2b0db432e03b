import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { identify, isAlive, type ProcessIdentity, pidOf } from './process-identity.ts';
import type { RedisServer } from './server-binary.ts';

const LOG = 'redis.log';
const LARGEST_LOG_BYTES = 1024 * 1024;
const COMMAND_TIMEOUT_MS = 10_000;

/** What every embedded server is started with; `settings` may override or add. */
const DEFAULTS: Record<string, string> = {
  save: '',
  appendonly: 'yes',
  appendfsync: 'everysec',
  'aof-load-truncated': 'yes',
  'maxmemory-policy': 'noeviction',
  // Looking for what it may do in the background, ten times a second as by default, takes 0.2 % of a core at rest.
  hz: '5',
  // Small records that carry a payload stay in the compact encoding (17 fields has a group's task with its result); those
  // of organization and space, of which every call reads a dozen fields, do not: there each field is looked for from the
  // first on.
  'hash-max-listpack-entries': '17',
  'hash-max-listpack-value': '1024',
};

interface SpawnOptions {
  program: RedisServer;
  dataDir: string;
  socketPath: string;
  settings: Record<string, string>;
}

/** A server that waits to be told where to listen. */
interface Spawned {
  server: ProcessIdentity;
  listen(): void;
}

/**
 * Starts a redis-server in `dataDir`. It does not answer yet: see `whenReady`.
 *
 * It reads where to listen from us, once we have written down that it runs. Whoever is killed before that leaves one
 * that has nowhere to listen and ends: else it would become a second one for who comes next and finds nothing of it.
 *
 * It gets a session of its own, so that a Ctrl-C on our terminal ends only us: what we are still doing needs it.
 *
 * @throws Error when the program cannot be started at all
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
  // Its log goes through stdout: complaints about settings and missing libraries are in the same place, then.
  const log = await open(path, 'a', 0o600);
  try {
    const stdio = ['pipe' as const, log.fd, log.fd];
    const child = spawn(program.command, words, { cwd: dataDir, env: program.env, detached: true, stdio });
    // It may end without having read: that is seen from the process.
    child.stdin?.on('error', () => undefined);
    await once(child, 'spawn');
    child.unref();
    const server = (child.pid && identify(child.pid)) || `${child.pid ?? 0}-ended`;
    return { server, listen: () => void child.stdin?.end(`unixsocket ${JSON.stringify(socketPath)}\n`) };
  } finally {
    await log.close();
  }
}

/**
 * Opens a connection that never reconnects; `end` is emitted once when the server closes it.
 *
 * @returns null when nobody listens there
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
    // A connection that has ended, or never was, would be waited for: the process would end two seconds later.
    disconnectTimeout: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  // What goes wrong is told by the promises; an unheard 'error' would be printed.
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
 * Waits for the end of a server.
 *
 * @param patienceMs how long at most
 * @returns whether it came
 */
export async function hasEnded(server: ProcessIdentity, patienceMs: number): Promise<boolean> {
  for (const until = Date.now() + patienceMs; isAlive(server); await sleep(10)) {
    if (Date.now() > until) return false;
  }
  return true;
}

/**
 * Makes a server end: by SIGTERM, and by SIGKILL when it has not obeyed.
 *
 * @param patienceMs from the one to the other
 */
export async function endProcess(server: ProcessIdentity, patienceMs: number): Promise<void> {
  signal(server, 'SIGTERM');
  if (await hasEnded(server, patienceMs)) return;
  signal(server, 'SIGKILL');
  await hasEnded(server, patienceMs);
}

/**
 * The last lines of the server's log, as one line, with the file's path.
 */
export async function logTail(dataDir: string): Promise<string> {
  const path = join(dataDir, LOG);
  const text = await readFile(path, 'utf8').catch(() => '');
  const lines = text.split('\n').map((line) => line.trim());
  // It warns of what the system might be set to, at length and at each start.
  const told = lines.filter((line) => line !== '' && !line.includes(' # WARNING '));
  return `${told.slice(-4).join(' | ')} (${path})`;
}

function signal(server: ProcessIdentity, name: NodeJS.Signals): void {
  try {
    if (isAlive(server)) process.kill(pidOf(server), name);
  } catch {
    // It ended in this moment.
  }
}

/** Where it ends or hangs instead of an answer, its log tells more than the client does. */
export function asked<T>(dataDir: string, answer: Promise<T>): Promise<T> {
  return answer.catch(async ({ message }: Error) => {
    throw new Error(`the embedded redis-server gives no answer (${message}): ${await logTail(dataDir)}`);
  });
}

/** The process behind a connection: also right for a server that was started through a script of the user's. */
export async function serverOf(link: Redis): Promise<ProcessIdentity> {
  const pid = Number(/process_id:(\d+)/.exec(await link.info('server'))?.[1]);
  return identify(pid) ?? `${pid}-ended`;
}

interface Seen {
  readonly server: ProcessIdentity;
  /** On a full disk it ends in order without what it could not write. */
  readonly isWritten: boolean;
}

/** What is to be known of a server before it is stopped; null when it ends by itself in this moment. */
export async function seen(dataDir: string, link: Redis): Promise<Seen | null> {
  try {
    const server = await serverOf(link);
    return { server, isWritten: (await link.info('persistence')).includes('aof_last_write_status:ok') };
  } catch (error) {
    if (link.status === 'end') return null;
    return asked(dataDir, Promise.reject(error));
  }
}
