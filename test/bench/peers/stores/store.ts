// A peer's server, run for one measurement: a process of an unprivileged user, with its own temporary folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect, createServer, type NetConnectOpts } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../../../../src/external-programs/at-exit.ts';
import { findProgram, type Program, type ProgramKind } from '../../../../src/external-programs/find.ts';

export interface Store {
  /** In the form that its clients take: a socket's path, host:port or a connection string. */
  address: string;
  /** Its durability for acknowledged writes, as printed in the row. */
  durability: string;
  /** Its process, or the first of several. */
  pid: number;
  /** Maintenance that an operator has it do now and then. It runs before each measurement. */
  tidy?(): Promise<unknown>;
  stop(): Promise<void>;
}

/** Starts a store; throws an error of one line if its program is not available. */
export type StartStore = () => Promise<Store>;

interface Owner {
  uid?: number;
  gid?: number;
}

const FETCHED = fileURLToPath(new URL('../../../../.peers', import.meta.url));
const PATIENCE_MS = 20_000;

/**
 * Finds a server's program: in its variable, on PATH, or in the distribution's packages, unpacked into an ignored
 * folder of the project.
 */
export function findServer(kind: ProgramKind, env: NodeJS.ProcessEnv = process.env): Promise<Program> {
  return findProgram(kind, { log: (line) => console.error(line), env, folder: join(FETCHED, kind.label) });
}

/** The user `nobody` if this process runs as root: PostgreSQL refuses to run as root, and no store needs to. */
async function owner(): Promise<Owner> {
  if (process.getuid?.() !== 0) return {};
  const line = (await readFile('/etc/passwd', 'utf8')).split('\n').find((entry) => entry.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (!uid || !gid) throw new Error('started by root, and there is no user "nobody" to run a server as');
  return { uid: Number(uid), gid: Number(gid) };
}

/** A new folder below the system's temporary folder, and its owner. */
export async function makeFolder(): Promise<{ folder: string; as: Owner }> {
  const as = await owner();
  const folder = await mkdtemp(join(tmpdir(), 'muster-peer-'));
  if (as.uid !== undefined && as.gid !== undefined) await chown(folder, as.uid, as.gid);
  return { folder, as };
}

interface ServerOptions {
  program: Program;
  args: string[];
  folder: string;
  as: Owner;
  /** The signal that shuts it down cleanly. */
  signal: NodeJS.Signals;
  isReady(): Promise<boolean>;
}

/** Starts the server and waits until it is ready. Stopping it also removes its folder. */
export async function startServer(options: ServerOptions): Promise<Pick<Store, 'pid' | 'stop'>> {
  const { program, args, folder, as, signal } = options;
  const child = spawn(program.command, args, {
    ...as,
    cwd: folder,
    env: program.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said = (said + chunk).slice(-2_000);
  });
  endAtExit(child, signal);
  const stop = async () => {
    await ended(child, signal);
    await rm(folder, { recursive: true, force: true });
  };
  child.once('error', (error) => {
    said = error.message;
  });
  for (const until = Date.now() + PATIENCE_MS; !(await options.isReady()); await sleep(20)) {
    if (child.pid !== undefined && child.exitCode === null && Date.now() < until) continue;
    await stop();
    throw new Error(`${program.command} does not start: ${said.trim().split('\n').at(-1)}`);
  }
  return { pid: child.pid ?? 0, stop };
}

function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  return new Promise((resolve) => {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill(signal);
  });
}

/** Whether a server listens there. */
export function listens(at: NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(at, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** A port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
