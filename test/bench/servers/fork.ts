import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

interface Started {
  url: string;
}

type Answer = { ok: true; result: unknown } | { ok: false; message: string };

/** A contender's process, ready once it has sent its address. */
export class ForkedServer {
  readonly #child: ChildProcess;
  #url = '';

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** `file` is relative to test/bench. */
  static async start(file: string, env: Record<string, string>, flags: string[] = []): Promise<ForkedServer> {
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
    const child = fork(path, [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, ...env, NODE_ENV: 'production' },
      execArgv: [...process.execArgv, ...flags],
    });
    const server = new ForkedServer(child);
    server.#url = await new Promise<string>((resolve, reject) => {
      child.once('message', (started: Started) => resolve(started.url));
      child.once('exit', (code) => reject(new Error(`${file} ended with ${code} before it listened`)));
    });
    return server;
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  ask<Command extends object, Result>(command: Command): Promise<Result> {
    return new Promise((resolve, reject) => {
      const exited = () => reject(new Error('the contender ended'));
      this.#child.once('exit', exited);
      this.#child.once('message', (answer: Answer) => {
        this.#child.off('exit', exited);
        if (answer.ok) resolve(answer.result as Result);
        else reject(new Error(answer.message));
      });
      this.#child.send(command);
    });
  }

  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }
}
