import { existsSync } from 'node:fs';
import { type Redis, ReplyError } from 'ioredis';
import { withFolderLock } from './folder-lock.ts';
import { isAlive, type ProcessIdentity, pidOf } from './process-identity.ts';
import { whenReady } from './ready.ts';
import { connect, endProcess, explained, hasEnded, logTail, serverOf, spawnRedis, statusOf } from './redis-process.ts';
import type { RedisServer } from './server-binary.ts';
import {
  isMarkedClean,
  isMarkedLoss,
  makeSocketFolder,
  markClean,
  markLoss,
  readRecord,
  removeRecord,
  removeSocketFolder,
  removeTemporaryFiles,
  startError,
  writeRecord,
} from './store-folder.ts';
import { dropUnfinished } from './unfinished.ts';

const START_MS = 60_000;
const STOP_MS = 30_000;
/** Longer than a server takes to stop or to be restored into. */
const LOCK_MS = 600_000;

/** The owner of a data folder and of its server. */
export interface Store {
  dataDir: string;
  socketPath: string;
  program: RedisServer;
  settings: Record<string, string>;
  /** see EmbeddedOptions */
  outlivesProcess?: boolean | undefined;
  /** this owner's identity: the process's, a dot, and a random suffix */
  self: string;
  log(line: string): void;
  /** see EmbeddedOptions */
  afterLoss?: ((link: Redis) => Promise<void>) | undefined;
  /** aborts a start */
  signal?: AbortSignal | undefined;
  /** the server last taken over or started */
  server?: ProcessIdentity;
}

/** A connection that ends with the server, and the state of the store. */
interface Opened {
  link: Redis;
  socketPath: string;
  wasEmpty: boolean;
  wasClean: boolean;
}

/**
 * Starts the server of the folder, or takes it over if its owner was killed.
 *
 * @throws Error if another owner is alive, or with the tail of the server's log
 */
export async function openServer(store: Store): Promise<Opened> {
  const { dataDir, signal } = store;
  // At once, as its owner keeps the lock while the server loads its data.
  await refuseIfOwned(store);
  return withFolderLock(
    dataDir,
    LOCK_MS,
    async () => {
      await refuseIfOwned(store);
      return withLossHandled(store, (await takeOver(store)) ?? (await start(store)));
    },
    signal,
  );
}

async function refuseIfOwned({ dataDir, self }: Store): Promise<void> {
  const owner = await livingOwner(dataDir);
  if (owner === undefined || owner === self) return;
  throw new Error(
    `DATA_DIR: ${dataDir} belongs to the running process ${pidOf(owner)}: stop that, choose another folder, ` +
      'or set REDIS_URL to a Redis that several processes can share',
  );
}

/** The owner of a data folder's server; undefined if there is none, or if it is dead. */
export async function livingOwner(dataDir: string): Promise<string | undefined> {
  const owner = (await readRecord(dataDir))?.owner;
  return owner !== undefined && isAlive(owner.slice(0, owner.lastIndexOf('.'))) ? owner : undefined;
}

/** Calls `afterLoss` if writes may have been lost. The lock keeps others out until it is done. */
async function withLossHandled(store: Store, opened: Opened): Promise<Opened> {
  const { dataDir, afterLoss } = store;
  if (!afterLoss || !isMarkedLoss(dataDir)) return opened;
  try {
    await afterLoss(opened.link);
    await markLoss(dataDir, false);
    return opened;
  } catch (error) {
    opened.link.disconnect();
    await stop(store).catch(() => undefined);
    throw error;
  }
}

/** Takes over the server that a killed owner has left running. */
async function takeOver(store: Store): Promise<Opened | null> {
  const { dataDir, self: owner } = store;
  const record = await readRecord(dataDir);
  const socketPath = record?.socketPath ?? store.socketPath;
  const probe = await connect(socketPath);
  if (!probe) {
    // A server without its socket must end before a second one writes to the same files.
    if (record) await endProcess(record.server, STOP_MS);
    return null;
  }
  const server = await explained(dataDir, serverOf(probe)).finally(() => probe.disconnect());
  store.server = server;
  await writeRecord({ dataDir, socketPath, server, owner });
  const link = await whenReady(server, { ...store, socketPath }, START_MS).catch(async (error) => {
    if (store.signal?.aborted) await stop(store).catch(() => undefined);
    throw error;
  });
  return { link, socketPath, wasEmpty: await isEmpty(store, link), wasClean: !isMarkedLoss(dataDir) };
}

async function isEmpty({ dataDir }: Store, link: Redis): Promise<boolean> {
  return (await explained(dataDir, link.dbsize())) === 0;
}

async function start(store: Store): Promise<Opened> {
  const { dataDir, socketPath, self: owner } = store;
  const wasClean = isMarkedClean(dataDir) && !isMarkedLoss(dataDir);
  if (!wasClean) await markLoss(dataDir, true);
  await markClean(dataDir, false);
  await removeTemporaryFiles(dataDir);
  if (!wasClean) await truncateUnfinished(store);
  let server: ProcessIdentity | undefined;
  try {
    // The folder may have been removed by someone who stopped a server meanwhile.
    await makeSocketFolder(dataDir, socketPath);
    const spawned = await spawnRedis(store);
    server = spawned.server;
    store.server = server;
    await writeRecord({ dataDir, socketPath, server, owner });
    spawned.listen();
    const link = await whenReady(server, store, START_MS);
    return { link, socketPath, wasEmpty: await isEmpty(store, link), wasClean };
  } catch (error) {
    if (server) {
      await endProcess(server, STOP_MS);
      await removeRecord(dataDir);
    }
    // It has not accepted any write.
    if (wasClean) await markClean(dataDir, true);
    throw startError(error as NodeJS.ErrnoException, dataDir, store.program);
  }
}

async function truncateUnfinished({ dataDir, program, signal, log }: Store): Promise<void> {
  const bytes = await dropUnfinished(dataDir, program, signal);
  if (bytes > 0)
    log(
      `the embedded redis-server was killed during a write: truncated an incomplete call (the last ${bytes} bytes of its log)`,
    );
}

/**
 * Stops the server.
 *
 * @throws Error when it had to be killed, or its folder is gone
 */
export async function stopServer(store: Store): Promise<void> {
  try {
    await withFolderLock(store.dataDir, LOCK_MS, () => stop(store));
  } catch (error) {
    // Without its folder nobody can find the server, and its writes would be lost, so end it.
    if (store.server && !existsSync(store.dataDir)) await endProcess(store.server, STOP_MS);
    throw error;
  }
}

async function stop(store: Store): Promise<void> {
  const { dataDir } = store;
  const record = await readRecord(dataDir);
  // Another process became the owner while this one could not restart its server.
  if (record && record.owner !== store.self) return;
  const link = await connect(record?.socketPath ?? store.socketPath);
  const found = link && (await statusOf(dataDir, link));
  if (found) {
    const { server, isWritten } = found;
    // On success SHUTDOWN closes the connection without a reply, so check the process.
    const refusal = await link.shutdown().catch((error: Error) => error);
    link.disconnect();
    const hasStopped = !(refusal instanceof ReplyError) && (await hasEnded(server, STOP_MS));
    if (!hasStopped) await endProcess(server, STOP_MS);
    await removeRecord(dataDir);
    if (!hasStopped) throw new Error(`the embedded redis-server had to be killed: ${await logTail(dataDir)}`);
    await markClean(dataDir, isWritten);
    await removeSocketFolder(dataDir, store.socketPath);
  } else {
    if (record) await endProcess(record.server, STOP_MS);
    await removeRecord(dataDir);
  }
}
