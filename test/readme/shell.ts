import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const limitMs = 50_000;

/** The result of a block. */
export interface Done {
  readonly status: number;
  /** stdout and stderr, interleaved as they came */
  readonly output: string;
}

/** One bash that runs block after block, as a reader's terminal does: variables persist. */
export class Shell {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #closed: Promise<void>;
  #output = '';
  #arrived: () => void = () => undefined;

  private constructor(folder: string, child: ChildProcess) {
    this.folder = folder;
    this.#child = child;
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      this.#output += text;
      this.#arrived();
    });
    this.#closed = once(child, 'close').then(() => this.#arrived());
  }

  /** @param cwd where it starts */
  static async start(cwd: string, env: NodeJS.ProcessEnv): Promise<Shell> {
    const folder = await mkdtemp(join(tmpdir(), 'muster-readme-'));
    // Through cat, so that stdout and stderr are pipes: sockets made by Node cannot be opened by name (/dev/stderr).
    const child = spawn('bash', ['-c', 'exec 9<&0; (exec bash --noprofile --norc <&9) 2>&1 | cat'], {
      cwd,
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    return new Shell(folder, child);
  }

  /** Runs a block as it is. A timeout ends the shell, and everything after it fails at once. */
  async run(block: string): Promise<Done> {
    if (this.#ended) throw new Error('the shell has ended');
    const file = join(this.folder, 'block.sh');
    const marker = `--- ${randomUUID()}`;
    await writeFile(file, `${block}\n`);
    this.#output = '';
    this.#child.stdin?.write(`. '${file}' </dev/null; printf '\\n%s %s\\n' '${marker}' $?\n`);
    const limit = setTimeout(() => this.#kill(), limitMs);
    try {
      return await this.#answer(marker);
    } finally {
      clearTimeout(limit);
    }
  }

  async #answer(marker: string): Promise<Done> {
    for (;;) {
      const [, output, status] = new RegExp(`^([^]*)\\n${marker} (\\d+)\\n`).exec(this.#output) ?? [];
      if (output !== undefined) return { status: Number(status), output };
      if (this.#ended) throw new Error(`the shell ended: ${this.#output}`);
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }

  get #ended(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #kill(): void {
    if (!this.#ended && this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
  }

  /** Ends the shell, and whatever it runs in the background. */
  async end(): Promise<void> {
    this.#kill();
    await this.#closed;
    await rm(this.folder, { recursive: true, force: true });
  }
}
