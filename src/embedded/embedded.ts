import { randomBytes } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { self } from './process-identity.ts';
import { connect, logTail } from './redis-process.ts';
import { findRedisServer, type RedisServer } from './server-binary.ts';
import { makeStoreFolder, readRecord, socketPathFor } from './store-folder.ts';
import { livingOwner, openServer, type Store, stopServer } from './store-server.ts';

const FIRST_RESTART_MS = 1_000;
const LONGEST_RESTART_MS = 10_000;

export interface EmbeddedOptions {
  /** the folder of the data, the log and (usually) the socket; created when missing */
  dataDir: string;
  log(line: string): void;
  /** redis.conf settings on top of the defaults */
  settings?: Record<string, string> | undefined;
  /** the program to run; default: the result of {@link findRedisServer} */
  program?: RedisServer | undefined;
  /** called when the server has crashed and is up again: the last second of writes may be lost; must not throw */
  onUncleanRestart?: (() => void) | undefined;
  /**
   * called whenever acknowledged writes may have been lost, while nobody else can start the server; if it fails, the
   * folder's next owner calls it again
   */
  afterLoss?: ((link: Redis) => Promise<void>) | undefined;
  /**
   * the server keeps running when this process ends without stopping it, as after a crash, and the folder's next owner
   * takes it over; by default it ends with the process
   */
  outlivesProcess?: boolean | undefined;
  /** aborts a start: a server may take long to load its data */
  signal?: AbortSignal | undefined;
}

export interface EmbeddedRedis {
  socketPath: string;
  /** the store had no keys when this call took it over or started it */
  wasEmpty: boolean;
  /** no acknowledged write can have been lost before this call: the last run was shut down cleanly, or is still running */
  wasClean: boolean;
  /** @throws Error when the server does not shut down cleanly */
  stop(): Promise<void>;
}

/**
 * Starts the redis-server that keeps its data in `dataDir`, or takes over the one that a killed process has left running
 * there. A folder has one owner at a time. The server is restarted when it exits.
 *
 * @throws Error with a one-line message: another process owns the folder, no program, or the tail of the server's log
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const dataDir = await makeStoreFolder(options.dataDir);
  const socketPath = await socketPathFor(dataDir);
  const program = options.program ?? (await findRedisServer({ log: options.log }));
  const owner = `${self()}.${randomBytes(4).toString('hex')}`;
  const stopping = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal;
  const store: Store = {
    dataDir,
    socketPath,
    program,
    self: owner,
    settings: options.settings ?? {},
    outlivesProcess: options.outlivesProcess,
    log: options.log,
    afterLoss: options.afterLoss,
    signal,
  };
  let recovery: Promise<void> = Promise.resolve();

  const watch = (link: Redis): Redis => {
    const onEnd = () => {
      if (!signal.aborted) recovery = recover();
    };
    // It may have ended before we could listen.
    if (link.status === 'end') onEnd();
    else link.once('end', onEnd);
    return link;
  };
  const recover = async (): Promise<void> => {
    options.log(`the embedded redis-server has exited, restarting it: ${await logTail(dataDir)}`);
    for (let pause = FIRST_RESTART_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_RESTART_MS)) {
      try {
        await sleep(pause, undefined, { signal });
        const again = await openServer(store);
        link = watch(again.link);
        options.log('the embedded redis-server is running again');
        if (!again.wasClean) options.onUncleanRestart?.();
        return;
      } catch (error) {
        if (!signal.aborted) options.log(error instanceof Error ? error.message : String(error));
      }
    }
  };
  const stop = async (): Promise<void> => {
    stopping.abort();
    await recovery;
    link.disconnect();
    await stopServer(store);
  };

  const first = await openServer(store);
  // Clients have this path, so a restarted server must listen there, too.
  store.socketPath = first.socketPath;
  let link = watch(first.link);
  let stopped: Promise<void> | undefined;
  return {
    socketPath: first.socketPath,
    wasEmpty: first.wasEmpty,
    wasClean: first.wasClean,
    stop: () => {
      stopped ??= stop();
      return stopped;
    },
  };
}

/** The socket of the embedded server running in `dataDir`, for the CLI; null when there is none. */
export async function findEmbedded(dataDir: string): Promise<string | null> {
  const real = await realpath(dataDir).catch(() => null);
  if (real === null) return null;
  const link = await connect((await readRecord(real))?.socketPath ?? (await socketPathFor(real)));
  link?.disconnect();
  return link?.options.path ?? null;
}

/** Whether a living process owns the store of `dataDir`. */
export async function isOwned(dataDir: string): Promise<boolean> {
  return (await livingOwner(await realpath(dataDir))) !== undefined;
}
