import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { atExit } from '../../src/external-programs/at-exit.ts';

/** `npm start` as a reader runs it, in its own process group. */
export class StartedServer {
  readonly #child: ChildProcess;
  #printed = '';

  constructor(cwd: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('npm', ['start'], { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    // It and npm alike: they are a group of their own.
    this.#child.once(
      'close',
      atExit(() => this.#interrupt()),
    );
    const take = (text: string): void => {
      this.#printed += text;
    };
    this.#child.stdout?.setEncoding('utf8').on('data', take);
    this.#child.stderr?.setEncoding('utf8').on('data', take);
  }

  /** The program's output until it listened, without npm's lines and log lines. */
  get printed(): string {
    const lines = this.#printed.split('\n');
    return lines
      .slice(0, 1 + lines.findIndex((line) => line.startsWith('listening on ')))
      .filter((line) => line !== '' && !/^(> |npm |\{)/.test(line))
      .join('\n');
  }

  /** Resolves when the server listens. */
  async ready(): Promise<void> {
    while (!/^listening on /m.test(this.#printed)) {
      const next = await Promise.race([
        once(this.#child.stdout ?? this.#child, 'data').then(() => true),
        once(this.#child, 'close').then(() => false),
      ]);
      if (!next) throw new Error(`npm start ended: ${this.#printed}`);
    }
  }

  /** Like Ctrl-C, by which a terminal signals everything that the command has started. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.pid === undefined) return;
    const closed = once(this.#child, 'close');
    this.#interrupt();
    await closed;
  }

  #interrupt(): void {
    const { pid } = this.#child;
    if (pid !== undefined) process.kill(-pid, 'SIGINT');
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
