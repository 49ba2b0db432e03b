import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createMuster, type Muster } from '../muster.ts';

/** A space with its own client. */
export interface TestSpace {
  readonly spaceId: string;
  readonly muster: Muster;
}

/** A server started by this process, with its own empty store. */
export interface TestServer extends TestSpace {
  readonly url: string;
  /** A key with all permissions, for all its spaces. */
  readonly key: string;
  /** Makes another space. A test with its own space sees nothing of the others. */
  space(): Promise<TestSpace>;
  /** Ends the server and deletes its data. Without this call, both happen when the process ends. */
  stop(): Promise<void>;
}

interface Started {
  readonly url: string;
  readonly key: string;
  readonly spaceId: string;
}

/** The program `muster`: from MUSTER_SERVER, or from the package installed beside the tests or this client. */
function findProgram(): string {
  const { MUSTER_SERVER } = process.env;
  if (MUSTER_SERVER) return realpathSync(MUSTER_SERVER);
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url])
    try {
      return join(dirname(createRequire(from).resolve('muster-server/package.json')), 'dist/cli/bin.js');
    } catch {
      // Not installed there.
    }
  throw new Error(
    'testServer runs the package muster-server, which is not installed: npm install --save-dev muster-server, ' +
      'or set MUSTER_SERVER to the path of its program `muster`',
  );
}

/** A Node object that keeps a process running while it is open. */
interface Handle {
  ref(): unknown;
  unref(): unknown;
}

/** The lines printed by a server. Keeps the process running only while it waits for one. */
class Lines {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #handles: readonly Handle[];
  #asked = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    if (!child.stdout || !child.stdin) throw new Error('the server has no pipes');
    child.stdin.on('error', () => undefined);
    this.#lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    this.#handles = [child, child.stdin as unknown as Handle, child.stdout as unknown as Handle];
  }

  async next<T>(): Promise<T> {
    if (this.#asked++ === 0) for (const handle of this.#handles) handle.ref();
    try {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error('the test server has exited; see its output above');
      return JSON.parse(value) as T;
    } finally {
      if (--this.#asked === 0) for (const handle of this.#handles) handle.unref();
    }
  }

  ask<T>(): Promise<T> {
    this.#child.stdin?.write('\n');
    return this.next();
  }

  async end(): Promise<void> {
    const { exitCode, signalCode, stdin } = this.#child;
    if (exitCode !== null || signalCode !== null) return;
    this.#child.ref();
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    stdin?.end();
    await ended;
  }
}

/**
 * Starts a server for tests, in a process that ends with this one: `const { muster, stop } = await testServer()`. It has the
 * embedded store with a fresh space, all limits at their maxima, and may send webhooks to loopback addresses. It logs to
 * stderr, but only if LOG_LEVEL is set.
 *
 * @throws {Error} if the package muster-server is not installed or cannot start.
 */
export async function testServer(): Promise<TestServer> {
  const program = findProgram();
  const [command, ...args] = program.endsWith('.js') ? [process.execPath, program] : [program];
  // The tests' module loaders are not for the server.
  const env = { ...process.env, NODE_OPTIONS: '' };
  const child = spawn(command, [...args, 'test-server'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const failed = new Promise<never>((_, reject) => child.once('error', reject));
  failed.catch(() => undefined);
  const lines = new Lines(child);
  const { url, key, spaceId } = await Promise.race([lines.next<Started>(), failed]);
  const clientOf = (id: string): TestSpace => ({ spaceId: id, muster: createMuster({ url, key, spaceId: id }) });
  return {
    url,
    key,
    ...clientOf(spaceId),
    space: async () => clientOf((await lines.ask<Pick<Started, 'spaceId'>>()).spaceId),
    stop: () => lines.end(),
  };
}
