import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endAtExit } from '../../external-programs/at-exit.ts';

/** Where the server of the demo is, and a key of its space. */
export interface Place {
  readonly url: string;
  readonly spaceId: string;
  readonly key: string;
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'close');
  child.kill(signal);
  await ended;
}

/** The server of the demo and the programs that use it. */
export class Processes {
  readonly #root: string;
  readonly #programs: ChildProcess[] = [];
  #server: ChildProcess | undefined;
  #dataDir = '';

  constructor(root: string) {
    this.#root = root;
  }

  /** Starts a server with a temporary folder and a free port. */
  async serve(): Promise<Place> {
    this.#dataDir = await mkdtemp(join(tmpdir(), 'muster-demo-'));
    const settings = { REDIS_URL: '', DATA_DIR: this.#dataDir, HOST: '127.0.0.1', PORT: '0', ROLE: 'all' };
    const env = { ...process.env, ...settings, LOG_LEVEL: 'error' };
    // In its own process group: Ctrl-C goes to the demo only, which then stops its server.
    const child = spawn(process.execPath, [join(this.#root, 'dist/main.js')], { env, detached: true });
    endAtExit(child);
    this.#server = child;
    let printed = '';
    const ended = once(child, 'close').then(() => Promise.reject(new Error(`the server has ended: ${printed}`)));
    ended.catch(() => undefined);
    child.stderr.on('data', (text) => {
      printed += text;
    });
    const listening = new Promise<void>((resolve) => {
      child.stdout.on('data', (text) => {
        printed += text;
        if (/^listening on /m.test(printed)) resolve();
      });
    });
    await Promise.race([listening, ended]);
    const line = (name: string): string => new RegExp(`^export ${name}=(.*)$`, 'm').exec(printed)?.[1] ?? '';
    return { url: line('MUSTER_URL'), spaceId: line('MUSTER_SPACE'), key: line('MUSTER_KEY') };
  }

  /** Starts a program of docs/examples. Each line that it prints is heard. */
  start(file: string, { url, spaceId, key }: Place, hear: (line: string) => void): ChildProcess {
    const env = { ...process.env, MUSTER_URL: url, MUSTER_SPACE: spaceId, MUSTER_KEY: key };
    const words = ['--import', 'tsx', join(this.#root, 'docs/examples', file)];
    const child = spawn(process.execPath, words, { cwd: this.#root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    endAtExit(child);
    for (const output of [child.stdout, child.stderr]) createInterface(output).on('line', hear);
    this.#programs.push(child);
    return child;
  }

  /** Stops all processes and removes all files. */
  async stop(): Promise<void> {
    await Promise.all(this.#programs.map((child) => end(child, 'SIGKILL')));
    if (this.#server) await end(this.#server, 'SIGTERM');
    if (this.#dataDir) await rm(this.#dataDir, { recursive: true, force: true });
  }
}
