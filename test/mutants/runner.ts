import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atExit } from '../../src/external-programs/at-exit.ts';

/** The result of a test file. */
export interface Found {
  readonly failure: { readonly title: string; readonly message: string } | undefined;
  readonly passed: number;
  readonly ms: number;
  /** How often it called each script. */
  readonly calls: Readonly<Record<string, number>>;
}

export type Order =
  | { readonly do: 'load'; readonly files: readonly string[]; readonly seed: number }
  | { readonly do: 'renew'; readonly isClean: boolean }
  | { readonly do: 'test'; readonly file: string; readonly patienceMs: number }
  | { readonly do: 'look' };

/** The worker did not answer in time, or has ended: an endless loop, in Lua or in TypeScript, or a crash. */
export class WorkerLost extends Error {
  /** Whether it ran a test, and did not only begin, for which a busy machine may take too long. */
  readonly inTest: boolean;
  constructor(reason: string, inTest: boolean) {
    super(reason);
    this.inTest = inTest;
  }
}

/** A worker (worker.ts) in a copy of the project, with these test files loaded. */
export class Runner {
  readonly #child: ChildProcess;
  readonly #undo: () => void;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#undo = atExit(() => child.kill());
  }

  static async start(tree: string, files: readonly string[], seed: number): Promise<Runner> {
    // Stores that are killed leave their folders, which go with the tree.
    const temporary = join(tree, 'tmp');
    if (!existsSync(temporary)) {
      mkdirSync(temporary);
      // But tsx finds what it has compiled before.
      for (const name of readdirSync(tmpdir()))
        if (name.startsWith('tsx-')) symlinkSync(join(tmpdir(), name), join(temporary, name));
    }
    const child = fork(join(tree, 'test/mutants/worker.ts'), [], {
      cwd: tree,
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, TMPDIR: temporary },
      stdio: ['ignore', 'ignore', process.env['MUTANTS_DEBUG'] === undefined ? 'ignore' : 'inherit', 'ipc'],
      // Leads a process group, in which its stores are killed with it.
      detached: true,
    });
    const runner = new Runner(child);
    await runner.#order({ do: 'load', files, seed }, 900_000);
    return runner;
  }

  /** Empties the store and loads the library of the files as they are now. Returns why it cannot be loaded. */
  renew(isClean: boolean): Promise<string | undefined> {
    return this.#order({ do: 'renew', isClean }, 300_000) as Promise<string | undefined>;
  }

  /** Runs a test file until its first failure. A test fails after `patienceMs`. */
  test(file: string, patienceMs: number, limitMs: number): Promise<Found> {
    return this.#order({ do: 'test', file, patienceMs }, limitMs) as Promise<Found>;
  }

  /** What the tests so far have left in the store. Then there is a new one. */
  look(): Promise<string[]> {
    return this.#order({ do: 'look' }, 300_000) as Promise<string[]>;
  }

  async #order(order: Order, limitMs: number): Promise<unknown> {
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), limitMs);
    try {
      const inTest = order.do === 'test';
      if (!this.#child.connected) throw new WorkerLost('it has ended', false);
      this.#child.send(order);
      const answered = once(this.#child, 'message', { signal: over.signal });
      const ended = once(this.#child, 'exit', { signal: over.signal }).then(() => {
        throw new WorkerLost('it has ended', inTest);
      });
      const [{ result }] = (await Promise.race([answered, ended])) as [{ result?: unknown }];
      return result;
    } catch (error) {
      await this.end();
      if (over.signal.aborted) throw new WorkerLost(`no answer in ${limitMs / 1000} s`, order.do === 'test');
      throw error;
    } finally {
      clearTimeout(timer);
      over.abort();
    }
  }

  /** Ends it so that it ends what it has started; by force if it does not answer. */
  async end(): Promise<void> {
    this.#undo();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill();
    const force = setTimeout(() => this.#kill(), 20_000);
    await gone;
    clearTimeout(force);
  }

  /** Its stores are in its process group, except embedded ones. */
  #kill(): void {
    try {
      if (this.#child.pid !== undefined) process.kill(-this.#child.pid, 'SIGKILL');
    } catch {
      // It has ended before.
    }
  }
}
