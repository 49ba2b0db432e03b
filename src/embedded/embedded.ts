import { randomBytes } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { self } from './process-identity.ts';
import { connect, logTail } from './redis-process.ts';
import { findRedisServer, type RedisServer } from './server-binary.ts';
import { makeStoreFolder, readRecord, socketPathFor } from './store-folder.ts';
import { joinOrStart, leave, type Store } from './store-server.ts';

const FIRST_RESTART_MS = 1_000;
const LONGEST_RESTART_MS = 10_000;

export interface EmbeddedOptions {
  /** where the data, the log and (mostly) the socket are; made when missing */
  dataDir: string;
  log(line: string): void;
  /** redis.conf settings on top of the defaults */
  settings?: Record<string, string> | undefined;
  /** the program to run; default: what {@link findRedisServer} finds */
  program?: RedisServer | undefined;
  /** called when the server ended by itself and is up again: the last second of writes may be lost; must not throw */
  onUncleanRestart?: (() => void) | undefined;
  /**
   * called whenever acknowledged writes may have been lost, while nobody else can start or join the server; again by
   * the next user of the folder, until it has succeeded once
   */
  afterLoss?: ((link: Redis) => Promise<void>) | undefined;
  /** gives up a start that is under way: a server may load for long */
  signal?: AbortSignal | undefined;
}

export interface EmbeddedRedis {
  socketPath: string;
  /** the store had no keys when this call found or started it */
  wasEmpty: boolean;
  /** no acknowledged write can have been lost before this call: the last run was stopped in order, or still runs */
  wasClean: boolean;
  /**
   * Stops the server if it is this caller's, or its owner is dead; otherwise just lets go of it.
   *
   * @throws Error when the server does not end in order
   */
  stop(): Promise<void>;
}

/**
 * Starts the redis-server that keeps its data in `dataDir`, or joins the one that runs there already; the first that
 * came owns it, and who joins after its owner's death takes it over. It is started again when it ends by itself, for
 * as long as one of its users runs: also when its owner stopped it while others still use it.
 *
 * @throws Error with one line: no program, or the end of the server's log
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedRedis> {
  const dataDir = await makeStoreFolder(options.dataDir);
  const socketPath = await socketPathFor(dataDir);
  const program = options.program ?? (await findRedisServer({ log: options.log }));
  const me = `${self()}.${randomBytes(4).toString('hex')}`;
  const stopping = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal;
  const store: Store = {
    dataDir,
    socketPath,
    program,
    me,
    settings: options.settings ?? {},
    log: options.log,
    afterLoss: options.afterLoss,
    signal,
  };
  let recovery: Promise<void> = Promise.resolve();

  const watch = (link: Redis): Redis => {
    const ended = () => {
      if (!signal.aborted) recovery = recover();
    };
    // It may have ended before anyone listened.
    if (link.status === 'end') ended();
    else link.once('end', ended);
    return link;
  };
  const recover = async (): Promise<void> => {
    options.log(`lost the embedded redis-server, starting it again: ${await logTail(dataDir)}`);
    for (let pause = FIRST_RESTART_MS; !signal.aborted; pause = Math.min(2 * pause, LONGEST_RESTART_MS)) {
      try {
        await sleep(pause, undefined, { signal });
        const again = await joinOrStart(store);
        link = watch(again.link);
        options.log('the embedded redis-server runs again');
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
    await leave(store);
  };

  const first = await joinOrStart(store);
  // Clients know this path, so a server that is started again listens there too.
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

/**
 * The socket of the embedded server that runs in `dataDir`, for the operator's commands; null when none does.
 */
export async function findEmbedded(dataDir: string): Promise<string | null> {
  const link = await linkTo(dataDir);
  link?.disconnect();
  return link?.options.path ?? null;
}

/** Whether anybody uses the server of `dataDir`: each user holds a connection. One whose users were killed runs on. */
export async function isUsed(dataDir: string): Promise<boolean> {
  const link = await linkTo(dataDir);
  // One that does not say is not to be touched.
  const clients = await link?.call('CLIENT', 'LIST').catch(() => null);
  link?.disconnect();
  return link !== null && !/^.*\n$/.test(String(clients));
}

async function linkTo(dataDir: string): Promise<Redis | null> {
  const real = await realpath(dataDir).catch(() => null);
  return real === null ? null : connect((await readRecord(real))?.socketPath ?? (await socketPathFor(real)));
}
