import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import type { Access } from './processes.ts';
import { findPython } from './python.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export const spendLanguages = ['typescript', 'python'] as const;
export type SpendLanguage = (typeof spendLanguages)[number];

/** A worker process that spends: test/client/spend-program.mjs or test/python/spend_program.py. */
export class SpendProcess {
  said = '';
  complaints = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    endAtExit(child);
    this.#ended = once(child, 'exit');
    child.stdout?.on('data', (text) => {
      this.said += text;
    });
    child.stderr?.on('data', (text) => {
      this.complaints += text;
    });
  }

  static async start(
    language: SpendLanguage,
    { url, spaceId, apiKey: key }: Access & { readonly url: string },
    options: object,
  ): Promise<SpendProcess> {
    const python = await findPython();
    const env = {
      ...(language === 'python' ? python.env : process.env),
      SPEND: JSON.stringify({ url, key, spaceId, ...options }),
      PYTHONPATH: `${root}src/clients/python`,
    };
    const [command, program] =
      language === 'python'
        ? [python.command, `${root}test/python/spend_program.py`]
        : [process.execPath, `${root}test/client/spend-program.mjs`];
    return new SpendProcess(spawn(command, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Sends the signal, and waits for the end of the process. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    this.#child.kill(signal);
    await this.#ended;
  }
}
