import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { Redis } from 'ioredis';
import { awaitStore } from '../../src/embedded/await-store.ts';
import { findRedisServer } from '../../src/embedded/server-binary.ts';
import { dropUnfinished } from '../../src/embedded/unfinished.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';

/** A port that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** An operator's own Redis, on TCP, that a test kills and starts again. */
export class RedisServer {
  readonly dir: string;
  readonly port: number;
  readonly settings: Record<string, string>;
  /** Additional environment of the server's process, such as a library to preload. */
  readonly env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;
  #link: Redis | undefined;

  constructor(dir: string, port: number, settings: Record<string, string>, env: NodeJS.ProcessEnv = {}) {
    this.dir = dir;
    this.port = port;
    this.settings = settings;
    this.env = env;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts the process; it may still be loading. */
  async spawn(more: Record<string, string> = {}, words: readonly string[] = []): Promise<void> {
    // As the README recommends to operators.
    const program = await findRedisServer({ log: () => undefined });
    await dropUnfinished(this.dir, program);
    const { command, env } = program;
    const settings = {
      port: String(this.port),
      bind: '127.0.0.1',
      dir: this.dir,
      save: '',
      appendonly: 'yes',
      ...this.settings,
      ...more,
    };
    const options = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(command, [...words, ...options], { env: { ...env, ...this.env }, stdio: 'ignore' });
    endAtExit(child, 'SIGKILL');
    this.#child = child;
    await once(child, 'spawn');
  }

  async start(more: Record<string, string> = {}): Promise<this> {
    await this.spawn(more);
    await awaitStore(this.url, { log: () => undefined, signal: new AbortController().signal });
    return this;
  }

  /** A connection for the test itself. */
  get link(): Redis {
    if (!this.#link) {
      this.#link = new Redis(this.url, { protocol: 2, maxRetriesPerRequest: null, retryStrategy: () => 20 });
      this.#link.on('error', () => undefined);
    }
    return this.#link;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** kill -9: resolves when the process is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  async stop(): Promise<void> {
    this.#link?.disconnect();
    await this.kill();
  }
}
