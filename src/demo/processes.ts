import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Orders } from './plan.ts';

/** Works from source and from dist. */
const program = (name: string): string => fileURLToPath(new URL(`${name}${extname(import.meta.url)}`, import.meta.url));

/** The demo's own server, with a temporary folder and a free port; it leaves nothing behind. */
export class Server {
  readonly url: string;
  readonly spaceId: string;
  readonly key: string;
  /** Rejects when the server exits by itself. */
  readonly failed: Promise<never>;
  readonly #child: ChildProcess;
  readonly #dataDir: string;
  #stopping = false;

  private constructor(child: ChildProcess, dataDir: string, printed: string) {
    const line = (name: string): string => new RegExp(`^export ${name}=(.*)$`, 'm').exec(printed)?.[1] ?? '';
    this.#child = child;
    this.#dataDir = dataDir;
    this.url = line('MUSTER_URL');
    this.spaceId = line('MUSTER_SPACE');
    this.key = line('MUSTER_KEY');
    this.failed = once(child, 'close').then(() => {
      if (this.#stopping) return new Promise<never>(() => undefined);
      throw new Error('the server has ended');
    });
    this.failed.catch(() => undefined);
  }

  static async start(): Promise<Server> {
    const dataDir = await mkdtemp(join(tmpdir(), 'muster-demo-'));
    const settings = {
      REDIS_URL: '',
      DATA_DIR: dataDir,
      HOST: '127.0.0.1',
      PORT: '0',
      ROLE: 'all',
      LOG_LEVEL: 'error',
    };
    // In its own process group: Ctrl-C goes to the demo only, which then stops its server.
    const child = spawn(process.execPath, [...process.execArgv, program('../main')], {
      env: { ...process.env, ...settings },
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    let errors = '';
    child.stderr.on('data', (text) => {
      errors += text;
    });
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (text) => {
        printed += text;
        if (/^listening on /m.test(printed)) resolve();
      });
      child.once('close', resolve);
    });
    const server = new Server(child, dataDir, printed);
    if (server.key !== '') return server;
    await server.stop();
    throw new Error(`the server did not start: ${errors || printed}`);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'close');
      this.#child.kill('SIGTERM');
      await ended;
    }
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}

/** The agents' processes. */
export class Fleet {
  readonly #children = new Map<string, ChildProcess>();
  readonly #killed = new Set<string>();
  #stopping = false;
  /** Rejects when an agent fails that was not killed. */
  readonly failed: Promise<never>;
  #fail: (error: Error) => void = () => undefined;

  constructor() {
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => undefined);
  }

  start(orders: Orders): void {
    if (this.#stopping) return;
    const env = { ...process.env, MUSTER_DEMO_ORDERS: JSON.stringify(orders) };
    const child = fork(program('agent'), [], { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let errors = '';
    child.stderr?.on('data', (text) => {
      errors += text;
    });
    child.once('close', (status) => {
      if (status === 0 || this.#stopping || this.#killed.has(orders.name)) return;
      this.#fail(new Error(`${orders.name} ended with ${status ?? child.signalCode}: ${errors}`));
    });
    this.#children.set(orders.name, child);
  }

  pid(name: string): number {
    return this.#children.get(name)?.pid ?? 0;
  }

  signal(name: string, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
    if (signal === 'SIGKILL') this.#killed.add(name);
    this.#children.get(name)?.kill(signal);
  }

  hasEnded(name: string): boolean {
    const child = this.#children.get(name);
    return child === undefined || child.exitCode !== null || child.signalCode !== null;
  }

  /** Resolves when every process has ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const running = [...this.#children.keys()].filter((name) => !this.hasEnded(name));
    await Promise.all(
      running.map((name) => {
        const child = this.#children.get(name);
        child?.kill('SIGKILL');
        return child && once(child, 'exit');
      }),
    );
  }
}
