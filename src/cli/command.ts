import { once } from 'node:events';
import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { type Config, readConfig } from '../config.ts';
import { findEmbedded } from '../embedded/embedded.ts';
import { connect } from '../engine/redis/connection.ts';
import { inShort } from '../engine/redis/failures.ts';
import { checkFormat } from '../engine/redis/format.ts';
import { Scripts, StoreUnavailable } from '../engine/redis/scripts.ts';
import { invocation } from '../package.ts';
import { escaped, visible } from '../pages/text/visible.ts';
import type { Admin } from '../primitives/org/admin.ts';
import { product } from '../primitives/primitives.ts';
import { exact, jsonOf } from './exact.ts';
import { table } from './table.ts';

/** Explains why a new space does not take all of its plan's requests per minute. */
export const spaceRate = `A new space takes 600 requests a minute, whatever its plan allows. To raise that up to the plan's figure, send
PUT /v1/spaces/<spaceId>/limits {"requestsPerMinute": 3000} with a key that has the permission resource_config.`;

/** Adds examples, each prefixed with the invocation, to a command's help. */
export function examples(command: Command, ...lines: string[]): Command {
  const text = lines.map((line) => `  ${invocation} ${line}`).join('\n');
  return command.addHelpText('after', `\nExample${lines.length > 1 ? 's' : ''}:\n${text}`);
}

/** Where a command reads its settings and prints: the process's, or a test's. */
export interface Streams {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Pick<NodeJS.WriteStream, 'write'> & { readonly isTTY?: boolean; readonly rows?: number };
  readonly stderr: Pick<NodeJS.WriteStream, 'write'>;
}

/** One run of the CLI. */
export class Cli {
  readonly #streams: Streams;
  /** Prints JSON even on a terminal. */
  isJson = false;

  constructor(streams: Streams) {
    this.#streams = streams;
  }

  get env(): NodeJS.ProcessEnv {
    return this.#streams.env;
  }

  /** The settings. Throws ConfigError. */
  get config(): Config {
    return readConfig(this.env);
  }

  /** Whether results are printed for people. */
  get isTable(): boolean {
    return this.#streams.stdout.isTTY === true && !this.isJson;
  }

  /** The number of lines of the terminal. */
  get rows(): number {
    return this.#streams.stdout.rows ?? 24;
  }

  write(text: string): void {
    this.#streams.stdout.write(text);
  }

  /** Runs an operation on the store and prints its result. */
  async answer(operation: (admin: Admin) => Promise<unknown>): Promise<void> {
    this.print(await withStore(this.config, operation));
  }

  /** Runs an operation on the store that prints lines as it goes; `print` resolves when the next line may follow. */
  async stream(operation: (admin: Admin, print: (line: string) => Promise<void>) => Promise<void>): Promise<void> {
    const { stdout } = this.#streams;
    const print = async (line: string): Promise<void> => {
      // A test's output is not a stream and never full.
      if (!stdout.write(`${stdout.isTTY ? escaped(line) : line}\n`) && stdout instanceof Writable)
        await once(stdout, 'drain');
    };
    await withStore(this.config, (admin) => operation(admin, print));
  }

  /** Prints a command's result: a table on a terminal, otherwise JSON on one line. */
  print(value: unknown): void {
    const { stdout } = this.#streams;
    const result = exact(value);
    if (this.isTable) stdout.write(table(result));
    else if (stdout.isTTY) stdout.write(`${escaped(jsonOf(result, 2))}\n`);
    else stdout.write(`${jsonOf(result, 0)}\n`);
  }

  /** Prints a line for people to stderr. */
  readonly warn = (line: string): void => void this.#streams.stderr.write(`${visible(line)}\n`);
}

/**
 * Runs `work` with a connection to the configured store: REDIS_URL, or else the embedded Redis running on DATA_DIR.
 *
 * @throws StoreUnavailable, OtherFormat, and whatever `work` throws
 */
async function withStore<T>({ redisUrl, dataDir }: Config, work: (admin: Admin) => Promise<T>): Promise<T> {
  const url = redisUrl ?? (await findEmbedded(dataDir));
  if (url === null) {
    throw new StoreUnavailable(
      `no store is running on the data folder ${dataDir}: start one with muster serve (npm start), or set REDIS_URL (or DATA_DIR)`,
    );
  }
  const store = await connect(url).catch((error: Error) => {
    const where = redisUrl === null ? `the embedded Redis of ${dataDir}` : 'the store in REDIS_URL';
    throw new StoreUnavailable(
      `${where} cannot be reached (${inShort(error)}): start it, or set REDIS_URL to one that is running`,
    );
  });
  try {
    await checkFormat(store);
    return await work({ store, scripts: new Scripts(store, product.words), limits: product.limits });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    // After the connection is lost during a call, it is unknown whether the call ran.
    throw new StoreUnavailable(
      `the store failed (${error.message}): once it is back, audit list or snapshot list shows whether this was done`,
    );
  } finally {
    store.disconnect();
  }
}
