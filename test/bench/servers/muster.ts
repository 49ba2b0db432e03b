// The product as it is shipped: `node dist/main.js` over a given Redis, its organization made with its own CLI.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { endAtExit } from '../../../src/external-programs/at-exit.ts';
import type { Plan } from '../driver.ts';
import type { Phase } from '../phases.ts';
import { type BatchPhase, type Call, makeSpace, type SpacePlans } from './muster-space.ts';

const SERVER = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const CLI = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const ORG = 'bench';

/** One process of the product over a Redis; `role` as in its settings. */
export class MusterProcess {
  readonly #child: ChildProcess;
  readonly url: string;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(redisSocket: string, role: 'all' | 'api' = 'all'): Promise<MusterProcess> {
    if (!existsSync(SERVER)) throw new Error('dist/main.js is not there: run `npm run build` first');
    // Standard error is the log, a line per request: nobody reads it here.
    const child = spawn(process.execPath, ['--enable-source-maps', '--max-semi-space-size=64', SERVER], {
      env: { ...environment(redisSocket), ROLE: role },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    endAtExit(child);
    return new MusterProcess(child, await listening(child));
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  stop(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.exitCode !== null || this.#child.signalCode !== null) return resolve();
      this.#child.once('exit', () => resolve());
      this.#child.kill('SIGTERM');
    });
  }
}

export class MusterServer {
  readonly #process: MusterProcess;
  readonly #spaces: readonly SpacePlans[];
  readonly headers: Record<string, string>;
  /** The path of each space. */
  readonly paths: readonly string[];

  private constructor(process: MusterProcess, headers: Record<string, string>, paths: string[], spaces: SpacePlans[]) {
    this.#process = process;
    this.headers = headers;
    this.paths = paths;
    this.#spaces = spaces;
  }

  static async start(redisSocket: string, spaces: number, payload: unknown): Promise<MusterServer> {
    const server = await MusterProcess.start(redisSocket);
    try {
      const muster = (...args: string[]) => cli(environment(redisSocket), args);
      await muster('org', 'create', ORG, '--plan', 'enterprise');
      const permissions = 'coordination_read,coordination_write,resource_config';
      const { apiKey } = await muster('key', 'create', '--org', ORG, '--permissions', permissions);
      const headers = { authorization: `Bearer ${apiKey}` };
      const paths: string[] = [];
      const spacePlans: SpacePlans[] = [];
      for (let i = 0; i < spaces; i++) {
        const { spaceId } = await muster('space', 'create', '--org', ORG, '--name', `bench-${i}`);
        paths.push(`/v1/spaces/${spaceId}`);
        spacePlans.push(await makeSpace(`/v1/spaces/${spaceId}`, caller(server.url, headers), payload));
      }
      return new MusterServer(server, headers, paths, spacePlans);
    } catch (error) {
      await server.stop();
      throw error;
    }
  }

  /**
   * A phase's plans over all spaces. Consecutive plans are for different spaces, so that a few connections already
   * reach many spaces.
   */
  plans(phase: Phase): Plan[] {
    return this.#dealt((plans) => plans[phase]);
  }

  /** The same with many messages in each request. */
  batchPlans(phase: BatchPhase): Plan[] {
    return this.#dealt((plans) => plans.batched[phase]);
  }

  #dealt(plansOf: (plans: SpacePlans) => readonly Plan[]): Plan[] {
    const perSpace = this.#spaces.map(plansOf);
    const length = Math.max(...perSpace.map((plans) => plans.length));
    return Array.from({ length: length }, (_, i) => perSpace.flatMap((plans) => plans.slice(i, i + 1))).flat();
  }

  get url(): string {
    return this.#process.url;
  }

  get pid(): number {
    return this.#process.pid;
  }

  stop(): Promise<void> {
    return this.#process.stop();
  }
}

function environment(redisSocket: string): NodeJS.ProcessEnv {
  return { ...process.env, REDIS_URL: redisSocket, PORT: '0', HOST: '127.0.0.1', NODE_ENV: 'production' };
}

/** Reads standard output to its end: a full pipe would stop the server. */
function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`dist/main.js ended with ${code} before it listened`)));
    if (!child.stdout) return reject(new Error('no standard output'));
    const { stdout } = child;
    const lines = createInterface({ input: stdout });
    lines.on('line', (line) => {
      const url = /^listening on (http:\/\/\S+)/.exec(line)?.[1];
      if (!url) return;
      lines.close();
      stdout.resume();
      resolve(url);
    });
  });
}

async function cli(env: NodeJS.ProcessEnv, args: string[]): Promise<Record<string, string>> {
  const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args], { env });
  return JSON.parse(stdout) as Record<string, string>;
}

let nextKey = 0;

function caller(url: string, headers: Record<string, string>): Call {
  return async (method, path, body) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'idempotency-key': `bench-setup-${Date.now()}-${nextKey++}`,
      },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as { id: string };
  };
}
