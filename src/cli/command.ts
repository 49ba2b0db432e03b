import type { Command } from 'commander';
import { readConfig } from '../config.ts';
import { findEmbedded } from '../embedded/embedded.ts';
import type { Admin } from '../org/admin.ts';
import { product } from '../primitives.ts';
import { connect } from '../redis/connection.ts';
import { inShort } from '../redis/failures.ts';
import { checkFormat } from '../redis/format.ts';
import { Scripts, StoreUnavailable } from '../redis/scripts.ts';

/** How a command is typed: the operator pastes what the help shows. */
export const invocation = 'npm run -s muster --';

/** Adds examples, without the words that start each of them, to a command's help. */
export function examples(command: Command, ...lines: string[]): Command {
  const text = lines.map((line) => `  ${invocation} ${line}`).join('\n');
  return command.addHelpText('after', `\nExample${lines.length > 1 ? 's' : ''}:\n${text}`);
}

/** Runs one operation on the store and prints its record. */
export async function answer(operation: (admin: Admin) => Promise<unknown>): Promise<void> {
  print(await withStore(operation));
}

/** Prints the one value of a command: for people on a terminal, on one line for programs. */
export function print(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, process.stdout.isTTY ? 2 : 0)}\n`);
}

/**
 * Connects to the store of the settings for as long as `work` takes: REDIS_URL, else the embedded Redis that runs on
 * DATA_DIR.
 *
 * @throws ConfigError, StoreUnavailable, OtherFormat, and whatever `work` throws
 */
async function withStore<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
  const { redisUrl, dataDir } = readConfig();
  const url = redisUrl ?? (await findEmbedded(dataDir));
  if (url === null) {
    throw new StoreUnavailable(
      `no store runs on the data folder ${dataDir}: start one with npm start, or set REDIS_URL (or DATA_DIR)`,
    );
  }
  const store = await connect(url).catch((error: Error) => {
    const where = redisUrl === null ? `the embedded Redis of ${dataDir}` : 'the store that REDIS_URL names';
    throw new StoreUnavailable(
      `${where} cannot be reached (${inShort(error)}): start it, or set REDIS_URL to one that runs`,
    );
  });
  try {
    await checkFormat(store);
    return await work({ store, scripts: new Scripts(store, product.words), limits: product.limits });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    // A connection that was cut in mid-call leaves open whether the call was made.
    throw new StoreUnavailable(
      `the store failed (${error.message}): once it is well again, see with audit list, or snapshot list, whether this was done`,
    );
  } finally {
    store.disconnect();
  }
}
