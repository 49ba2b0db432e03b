// The product as it is shipped: `node dist/main.js` over a given Redis, its organization made with its own CLI.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Target } from '../driver.ts';

const SERVER = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const CLI = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const ORG = 'bench';
/** The highest the specification allows; a space takes 100,000 requests a minute, hence several spaces. */
const LIMITS = { requestsPerMinute: 100_000, maxBacklog: 1_000_000 };
const BACKLOG_LIMIT = 100_000;

export class MusterServer {
  readonly #child: ChildProcess;
  readonly url: string;
  readonly targets: Target[];
  readonly headers: Record<string, string>;

  private constructor(child: ChildProcess, url: string, targets: Target[], headers: Record<string, string>) {
    this.#child = child;
    this.url = url;
    this.targets = targets;
    this.headers = headers;
  }

  static async start(redisSocket: string, spaces: number, payload: unknown): Promise<MusterServer> {
    if (!existsSync(SERVER)) throw new Error('dist/main.js is not there: run `npm run build` first');
    const env = { ...process.env, REDIS_URL: redisSocket, PORT: '0', HOST: '127.0.0.1', NODE_ENV: 'production' };
    const child = spawn(process.execPath, ['--enable-source-maps', SERVER], {
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const url = await listening(child);
      const muster = (...args: string[]) => cli(env, args);
      await muster('org', 'create', ORG, '--plan', 'enterprise');
      const permissions = 'coordination_read,coordination_write,resource_config';
      const { apiKey } = await muster('key', 'create', '--org', ORG, '--permissions', permissions);
      const headers = { authorization: `Bearer ${apiKey}` };
      const targets: Target[] = [];
      for (let i = 0; i < spaces; i++) {
        const { spaceId } = await muster('space', 'create', '--org', ORG, '--name', `bench-${i}`);
        targets.push(await makeMailbox(`${url}/v1/spaces/${spaceId}`, headers, payload));
      }
      return new MusterServer(child, url, targets, headers);
    } catch (error) {
      child.kill('SIGKILL');
      throw error;
    }
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

/** Reads standard output to its end, because a log line per request goes there and a full pipe would stop the server. */
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

async function call(
  method: string,
  url: string,
  headers: Record<string, string>,
  body: object,
): Promise<{ id: string }> {
  const response = await fetch(url, {
    method,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'idempotency-key': `bench-setup-${Date.now()}-${nextKey++}`,
    },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${url} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as { id: string };
}

async function makeMailbox(space: string, headers: Record<string, string>, payload: unknown): Promise<Target> {
  await call('PUT', `${space}/limits`, headers, LIMITS);
  const mailbox = { name: 'bench', mode: 'WORK', backlogLimit: BACKLOG_LIMIT };
  const { id } = await call('POST', `${space}/mailboxes`, headers, mailbox);
  const scopeId = crypto.randomUUID();
  return {
    sendPath: new URL(`${space}/mailboxes/${id}/messages`).pathname,
    sendBody: JSON.stringify({ scopeId, payload }),
    recvPath: new URL(`${space}/mailboxes/${id}/recv`).pathname,
    recvBody: JSON.stringify({ scopeId, holder: 'bench', holderSession: 'bench-1', leaseSeconds: 600 }),
    messagesPath: new URL(`${space}/messages`).pathname,
  };
}
