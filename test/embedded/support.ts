import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BuildOptions } from 'esbuild';
import { Redis } from 'ioredis';
import { type EmbeddedOptions, type EmbeddedRedis, startEmbedded } from '../../src/embedded/embedded.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { bundled } from '../support/bundle.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Starts embedded servers in temporary folders, and leaves nothing behind. */
export class Stores {
  readonly lines: string[] = [];
  #folders: string[] = [];
  #stores: EmbeddedRedis[] = [];
  #others: OtherProcess[] = [];

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'muster-test-'));
    this.#folders.push(folder);
    return folder;
  }

  async start(dataDir: string, options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedRedis> {
    const store = await startEmbedded({ dataDir, log: (line) => this.lines.push(line), ...options });
    this.#stores.push(store);
    return store;
  }

  /** Another process that starts the server of `dataDir`, and stops its store on SIGTERM. */
  async startInOtherProcess(dataDir: string, env = process.env): Promise<OtherProcess> {
    const child = spawn(process.execPath, ['--input-type=module', '-', dataDir], {
      cwd: root,
      env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    endAtExit(child);
    other ??= programOfOther();
    child.stdin.end(await other);
    const exited = once(child, 'exit');
    const started: OtherProcess = {
      pid: child.pid,
      async end(signal) {
        child.kill(signal);
        await exited;
      },
    };
    this.#others.push(started);
    const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), exited]);
    if (line !== 'ready') throw new Error(`the other process ended with ${String(line)}`);
    return started;
  }

  async clear(): Promise<void> {
    for (const store of this.#stores.splice(0)) await store.stop();
    for (const other of this.#others.splice(0)) await other.end('SIGTERM');
    for (const folder of this.#folders.splice(0)) await rm(folder, { recursive: true, force: true });
    this.lines.length = 0;
  }
}

/** Sends one command on a new connection. */
export async function ask(socketPath: string, name: string, ...args: string[]): Promise<string> {
  const client = new Redis({ path: socketPath, lazyConnect: true, retryStrategy: () => null, protocol: 2 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return String(await client.call(name, ...args));
  } finally {
    client.disconnect();
  }
}

export async function pidOfServer(socketPath: string): Promise<number> {
  return Number(/process_id:(\d+)/.exec(await ask(socketPath, 'INFO', 'server'))?.[1]);
}

export async function answers(socketPath: string): Promise<boolean> {
  return ask(socketPath, 'PING').then(
    (answer) => answer === 'PONG',
    () => false,
  );
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

interface OtherProcess {
  readonly pid: number | undefined;
  /** Sends the signal, unless it has ended already, and waits for its end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

/** For a program that Node reads as a module from its standard input. */
export const asModule: BuildOptions = {
  format: 'esm',
  banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
};

/** Bundled once: with tsx, each start would take three times as long. */
let other: Promise<string> | undefined;

function programOfOther(): Promise<string> {
  const program = `
    import { startEmbedded } from './src/embedded/embedded.ts';
    const store = await startEmbedded({ dataDir: process.argv[2], log: console.error });
    process.once('SIGTERM', () => store.stop());
    console.log('ready');`;
  return bundled(program, root, asModule);
}
