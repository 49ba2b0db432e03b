import { existsSync } from 'node:fs';
import { type Redis, ReplyError } from 'ioredis';
import { withFolderLock } from './folder-lock.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
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
  type StoreRecord,
  startError,
  writeRecord,
} from './store-folder.ts';
import { dropUnfinished } from './unfinished.ts';

const START_MS = 60_000;
const STOP_MS = 30_000;
/**
 * Longer than a server takes to load much data, so that callers waiting for another process's start see its result.
 */
const LOCK_MS = 600_000;
/** Of the connection that each user keeps: its name is this and the user's identity. */
const USER = 'muster-user:';

/** One user of a data folder's server. */
export interface Store {
  dataDir: string;
  socketPath: string;
  program: RedisServer;
  settings: Record<string, string>;
  /** see EmbeddedOptions */
  outlivesProcess?: boolean | undefined;
  /** this caller's identity as an owner */
  self: string;
  log(line: string): void;
  /** see EmbeddedOptions */
  afterLoss?: ((link: Redis) => Promise<void>) | undefined;
  /** aborts a start */
  signal?: AbortSignal | undefined;
  /** the server last joined or started */
  server?: ProcessIdentity;
}

/** A connection that ends with the server, and the state of the store. */
interface Joined {
  link: Redis;
  socketPath: string;
  wasEmpty: boolean;
  wasClean: boolean;
}

/**
 * Joins the server of the folder, or starts it; makes `store` its owner if it has no living one.
 *
 * @throws Error with the tail of the server's log
 */
export function joinOrStart(store: Store): Promise<Joined> {
  const { dataDir, signal } = store;
  return withFolderLock(
    dataDir,
    LOCK_MS,
    async () => withLossHandled(store, (await join(store)) ?? (await start(store))),
    signal,
  );
}

/** Calls `afterLoss` if writes may have been lost. The lock keeps others out until it is done. */
async function withLossHandled(store: Store, joined: Joined): Promise<Joined> {
  const { dataDir, afterLoss } = store;
  if (!afterLoss || !isMarkedLoss(dataDir)) return joined;
  try {
    await afterLoss(joined.link);
    await markLoss(dataDir, false);
    return joined;
  } catch (error) {
    joined.link.disconnect();
    await stopIfOurs(store).catch(() => undefined);
    throw error;
  }
}

async function join(store: Store): Promise<Joined | null> {
  const { dataDir } = store;
  const record = await readRecord(dataDir);
  const socketPath = record?.socketPath ?? store.socketPath;
  const probe = await connect(socketPath);
  if (!probe) {
    // A server without its socket must end before a second one writes to the same files.
    if (record) await endProcess(record.server, STOP_MS);
    return null;
  }
  const server = await explained(dataDir, serverOf(probe)).finally(() => probe.disconnect());
  const link = await whenReady(server, { ...store, socketPath }, START_MS).catch(async (error) => {
    // If its owner is dead, nobody else would stop it.
    if (store.signal?.aborted) await stopIfOurs(store).catch(() => undefined);
    throw error;
  });
  const owner = record && ownerLives(record) ? record.owner : store.self;
  await writeRecord({ dataDir, socketPath, server, owner });
  store.server = server;
  return { link, socketPath, wasEmpty: await use(store, link), wasClean: !isMarkedLoss(dataDir) };
}

/** Shows the other users that this one is there. Returns whether the store has no keys. */
async function use({ dataDir, self }: Store, link: Redis): Promise<boolean> {
  await explained(dataDir, link.client('SETNAME', `${USER}${self}`));
  return (await explained(dataDir, link.dbsize())) === 0;
}

/** Another user who is there; undefined when there is none. */
async function otherUser({ self }: Store, link: Redis): Promise<string | undefined> {
  const clients = String(await link.client('LIST').catch(() => ''));
  const users = [...clients.matchAll(new RegExp(` name=${USER}(\\S+)`, 'g'))].map(([, user = '']) => user);
  return users.find((user) => user !== self && isAlive(identityOf(user)));
}

async function start(store: Store): Promise<Joined> {
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
    return { link, socketPath, wasEmpty: await use(store, link), wasClean };
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
 * Stops the server, unless another living user owns it. One that outlives processes is left to the next user instead.
 *
 * @throws Error when it had to be killed, or its folder is gone
 */
export async function leave(store: Store): Promise<void> {
  try {
    await withFolderLock(store.dataDir, LOCK_MS, () => stopIfOurs(store));
  } catch (error) {
    // Without its folder nobody can find the server, and its writes would be lost, so end it.
    if (store.server && !existsSync(store.dataDir)) await endProcess(store.server, STOP_MS);
    throw error;
  }
}

async function stopIfOurs(store: Store): Promise<void> {
  const { dataDir } = store;
  const record = await readRecord(dataDir);
  if (record && record.owner !== store.self && ownerLives(record)) return;
  const link = await connect(record?.socketPath ?? store.socketPath);
  const heir = record && link && store.outlivesProcess && (await otherUser(store, link));
  if (heir) {
    await writeRecord({ ...record, owner: heir });
    return link.disconnect();
  }
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

/** The process of an owner or user: one process may use a folder several times. */
function identityOf(user: string): ProcessIdentity {
  return user.slice(0, user.lastIndexOf('.'));
}

function ownerLives(record: StoreRecord): boolean {
  return isAlive(identityOf(record.owner));
}
