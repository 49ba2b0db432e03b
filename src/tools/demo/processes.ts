import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../../external-programs/at-exit.ts';
import type { Orders } from './plan.ts';

/** The path of a program, with this file's extension: it runs from source and from dist. */
const program = (name: string): string => fileURLToPath(new URL(`${name}${extname(import.meta.url)}`, import.meta.url));
const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'close');
  child.kill(signal);
  await ended;
}

export class Fleet {
  readonly #agents = new Map<string, ChildProcess>();
  #server: ChildProcess | undefined;
  #dataDir = '';
  #isStopping = false;
  #fail: (error: Error) => void = () => undefined;
  /** Rejects when the server ends, or when an agent fails without having been killed. */
  readonly failed = new Promise<never>((_, reject) => {
    this.#fail = reject;
  });

  /** Starts a server with a temporary folder and a free port. */
  async serve(): Promise<Pick<Orders, 'url' | 'key' | 'spaceId'>> {
    this.failed.catch(() => undefined);
    this.#dataDir = await mkdtemp(join(tmpdir(), 'muster-demo-'));
    const settings = { REDIS_URL: '', DATA_DIR: this.#dataDir, HOST: '127.0.0.1', PORT: '0', ROLE: 'all' };
    const env = { ...process.env, ...settings, LOG_LEVEL: 'error' };
    // In its own process group: Ctrl-C goes to the demo only, which then stops its server.
    const child = spawn(process.execPath, [...process.execArgv, program('../main')], { env, detached: true });
    endAtExit(child);
    this.#server = child;
    let printed = '';
    child.once('close', () => this.#isStopping || this.#fail(new Error(`the server has ended: ${printed}`)));
    child.stderr.on('data', (text) => {
      printed += text;
    });
    const listening = new Promise<void>((resolve) => {
      child.stdout.on('data', (text) => {
        printed += text;
        if (/^listening on /m.test(printed)) resolve();
      });
    });
    await Promise.race([listening, this.failed]);
    const line = (name: string): string => new RegExp(`^export ${name}=(.*)$`, 'm').exec(printed)?.[1] ?? '';
    return { url: line('MUSTER_URL'), spaceId: line('MUSTER_SPACE'), key: line('MUSTER_KEY') };
  }

  start(orders: Orders): void {
    if (this.#isStopping) return;
    const env = { ...process.env, MUSTER_DEMO_ORDERS: JSON.stringify(orders) };
    const child = fork(program('agent'), [], { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.once('close', (status, signal) => {
      if (status !== 0 && signal !== 'SIGKILL') this.#fail(new Error(`${orders.name} has failed`));
    });
    this.#agents.set(orders.name, child);
  }

  /** Sends a signal to an agent; returns its pid. */
  signal(name: string, signal: NodeJS.Signals): number | undefined {
    this.#agents.get(name)?.kill(signal);
    return this.#agents.get(name)?.pid;
  }

  get hasEnded(): boolean {
    return [...this.#agents.values()].every(hasEnded);
  }

  /** Stops all processes and removes all files. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all([...this.#agents.values()].map((child) => end(child, 'SIGKILL')));
    if (this.#server) await end(this.#server, 'SIGTERM');
    if (this.#dataDir) await rm(this.#dataDir, { recursive: true, force: true });
  }
}
