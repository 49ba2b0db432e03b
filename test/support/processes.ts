import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startEmbedded } from '../../src/embedded/embedded.ts';
import { readRecord } from '../../src/embedded/store-folder.ts';
import { endAtExit } from '../../src/external-programs/at-exit.ts';
import { exchange } from './exchange.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** How a process ended, and what it printed. */
interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const main = [process.execPath, 'dist/main.js'];

/** A process of `npm start`, from the build that `npm test` makes first. By default it runs without npm. */
export class MusterProcess {
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;

  constructor(settings: Record<string, string>, args: readonly string[], [command = '', ...words] = main) {
    const env = { ...process.env, REDIS_URL: '', PORT: '0', LOG_LEVEL: 'warn', ...settings };
    this.#child = spawn(command, [...words, ...args], {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endAtExit(this.#child);
    this.#child.stdout?.on('data', (text) => {
      this.stdout += text;
    });
    this.#child.stderr?.on('data', (text) => {
      this.stderr += text;
    });
    this.ended = once(this.#child, 'close').then(([status]) => ({ status, stdout: this.stdout, stderr: this.stderr }));
  }

  /** The messages of its log, except requests. */
  get said(): string[] {
    return messagesOf(this.stderr);
  }

  /** Resolves when it is serving. If it exits instead, throws its output. */
  async ready(): Promise<this> {
    await until(() => /^(listening on .*|worker ready)\n/m.test(this.stdout) || this.#child.exitCode !== null);
    if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.stdout}${this.stderr}`);
    return this;
  }

  get url(): string {
    return /^listening on (.*)$/m.exec(this.stdout)?.[1] ?? '';
  }

  /** The access from the `export` lines of a first start. */
  get access(): Access {
    const line = (name: string): string => new RegExp(`^export ${name}=(.*)$`, 'm').exec(this.stdout)?.[1] ?? '';
    return { spaceId: line('MUSTER_SPACE'), apiKey: line('MUSTER_KEY') };
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async end(name: NodeJS.Signals): Promise<Ended> {
    this.signal(name);
    return this.ended;
  }
}

export function messagesOf(log: string): string[] {
  const lines = log.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line).msg as string | undefined).filter((text) => text !== undefined);
}

/** Starts processes and creates folders, and removes all of them. */
export class Processes {
  #processes: MusterProcess[] = [];
  #folders: string[] = [];

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'muster-process-'));
    this.#folders.push(folder);
    return folder;
  }

  start(settings: Record<string, string>, args: readonly string[] = [], command?: string[]): MusterProcess {
    const started = new MusterProcess(settings, args, command);
    this.#processes.push(started);
    return started;
  }

  /** Also stops an embedded server that a killed process left running. */
  async clear(): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((one) => one.end('SIGKILL')));
    for (const dataDir of this.#folders.splice(0)) {
      if (await readRecord(dataDir)) await (await startEmbedded({ dataDir, log: () => undefined })).stop();
      await rm(dataDir, { recursive: true, force: true });
    }
  }
}

export interface Access {
  readonly spaceId: string;
  readonly apiKey: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

/** A request below the space, by default with a new Idempotency-Key. Rejects if there is no answer. */
export async function call(
  url: string,
  { spaceId, apiKey }: Access,
  path: string,
  body?: unknown,
  idempotencyKey: string = randomUUID(),
): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${apiKey}`,
    'Idempotency-Key': idempotencyKey,
    'Content-Type': 'application/json',
  };
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const method = sent === undefined ? 'GET' : 'POST';
  const {
    status,
    headers: received,
    text,
  } = await exchange(method, `${url}/v1/spaces/${spaceId}${path}`, headers, sent);
  return { status, headers: received, body: text === '' ? undefined : JSON.parse(text) };
}

/** Repeats a call, whose address may change, until the answer is not 503. */
export async function insist(url: () => string, access: Access, path: string, body?: unknown): Promise<Answer> {
  const key = randomUUID();
  for (;;) {
    const answer = await call(url(), access, path, body, key).catch(() => null);
    if (answer && answer.status !== 503) return answer;
    await sleep(5);
  }
}

/**
 * Waits until `condition` holds. mocha's own time limit ends the wait. It looks less often the longer it has waited: a look is
 * mostly a call of the API, and many tests wait for processes, some at the same time.
 */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let pauseMs = 5; !(await condition()); pauseMs = Math.min(1.3 * pauseMs, 250)) await sleep(pauseMs);
}
