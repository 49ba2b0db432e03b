import { existsSync } from 'node:fs';
import { type Redis, ReplyError } from 'ioredis';
import { withFolderLock } from './folder-lock.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { whenReady } from './ready.ts';
import { asked, connect, endProcess, hasEnded, logTail, seen, serverOf, spawnRedis } from './redis-process.ts';
import type { RedisServer } from './server-binary.ts';
import {
  explained,
  isMarkedClean,
  isMarkedLoss,
  makeSocketFolder,
  markClean,
  markLoss,
  readRecord,
  removeHalfWritten,
  removeRecord,
  removeSocketFolder,
  type StoreRecord,
  writeRecord,
} from './store-folder.ts';
import { dropUnfinished } from './unfinished.ts';

const START_MS = 60_000;
const STOP_MS = 30_000;
/** Longer than a start may take, with much to load: whoever waits for another's start then sees how it ended. */
const LOCK_MS = 600_000;

/** One user of a data folder's server. */
export interface Store {
  dataDir: string;
  socketPath: string;
  program: RedisServer;
  settings: Record<string, string>;
  /** this caller, as an owner */
  me: string;
  log(line: string): void;
  /** see EmbeddedOptions */
  afterLoss?: ((link: Redis) => Promise<void>) | undefined;
  /** nobody waits for a start any more */
  signal?: AbortSignal | undefined;
  /** the process that was joined or started last */
  server?: ProcessIdentity;
}

/** A connection to the server, which ends when the server does, and what was found there. */
interface Joined {
  link: Redis;
  socketPath: string;
  wasEmpty: boolean;
  wasClean: boolean;
}

/**
 * Joins the server of the folder, or starts it; makes `store` its owner if there is no living one.
 *
 * @throws Error with the end of the server's log
 */
export function joinOrStart(store: Store): Promise<Joined> {
  const { dataDir, signal } = store;
  return withFolderLock(
    dataDir,
    LOCK_MS,
    async () => seenTo(store, (await join(store)) ?? (await start(store))),
    signal,
  );
}

/** Nobody else gets to use the store before this is done. */
async function seenTo(store: Store, joined: Joined): Promise<Joined> {
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
  const { dataDir, me } = store;
  const record = await readRecord(dataDir);
  const socketPath = record?.socketPath ?? store.socketPath;
  const probe = await connect(socketPath);
  if (!probe) {
    // It runs, but has lost its socket: a second server must not write to the same files.
    if (record) await endProcess(record.server, STOP_MS);
    return null;
  }
  const server = await asked(dataDir, serverOf(probe)).finally(() => probe.disconnect());
  const link = await whenReady(server, { ...store, socketPath }, START_MS).catch(async (error) => {
    // Nobody else would stop it where its owner is dead.
    if (store.signal?.aborted) await stopIfOurs(store).catch(() => undefined);
    throw error;
  });
  const owner = record && ownerLives(record) ? record.owner : me;
  await writeRecord({ dataDir, socketPath, server, owner });
  store.server = server;
  const keys = await asked(dataDir, link.dbsize());
  return { link, socketPath, wasEmpty: keys === 0, wasClean: !isMarkedLoss(dataDir) };
}

async function start(store: Store): Promise<Joined> {
  const { dataDir, socketPath, me } = store;
  const wasClean = isMarkedClean(dataDir) && !isMarkedLoss(dataDir);
  if (!wasClean) await markLoss(dataDir, true);
  await markClean(dataDir, false);
  await removeHalfWritten(dataDir);
  if (!wasClean) await truncateUnfinished(store);
  let server: ProcessIdentity | undefined;
  try {
    // Again, as one who stopped meanwhile removed it.
    await makeSocketFolder(dataDir, socketPath);
    const spawned = await spawnRedis(store);
    server = spawned.server;
    store.server = server;
    await writeRecord({ dataDir, socketPath, server, owner: me });
    spawned.listen();
    const link = await whenReady(server, store, START_MS);
    return { link, socketPath, wasEmpty: (await asked(dataDir, link.dbsize())) === 0, wasClean };
  } catch (error) {
    if (server) {
      await endProcess(server, STOP_MS);
      await removeRecord(dataDir);
    }
    // It has not taken a single write.
    if (wasClean) await markClean(dataDir, true);
    throw explained(error as NodeJS.ErrnoException, dataDir, store.program);
  }
}

async function truncateUnfinished({ dataDir, program, signal, log }: Store): Promise<void> {
  const bytes = await dropUnfinished(dataDir, program, signal);
  if (bytes > 0)
    log(
      `the embedded redis-server ended in the middle of a write: its last ${bytes} bytes, an incomplete call, were removed`,
    );
}

/**
 * Stops the server, unless another living user owns it.
 *
 * @throws Error when it did not obey and had to be killed, or its folder is gone
 */
export async function leave(store: Store): Promise<void> {
  try {
    await withFolderLock(store.dataDir, LOCK_MS, () => stopIfOurs(store));
  } catch (error) {
    // Without its folder nobody can find it any more, and what it writes is lost: it must not live on.
    if (store.server && !existsSync(store.dataDir)) await endProcess(store.server, STOP_MS);
    throw error;
  }
}

async function stopIfOurs(store: Store): Promise<void> {
  const { dataDir, me } = store;
  const record = await readRecord(dataDir);
  if (record && record.owner !== me && ownerLives(record)) return;
  const link = await connect(record?.socketPath ?? store.socketPath);
  const found = link && (await seen(dataDir, link));
  if (found) {
    const { server, isWritten } = found;
    // Where it obeys, the connection ends instead of an answer; whether it did is seen from the process.
    const refusal = await link.shutdown().catch((error: Error) => error);
    link.disconnect();
    const obeyed = !(refusal instanceof ReplyError) && (await hasEnded(server, STOP_MS));
    if (!obeyed) await endProcess(server, STOP_MS);
    await removeRecord(dataDir);
    if (!obeyed) throw new Error(`the embedded redis-server had to be killed: ${await logTail(dataDir)}`);
    await markClean(dataDir, isWritten);
    await removeSocketFolder(dataDir, store.socketPath);
  } else {
    if (record) await endProcess(record.server, STOP_MS);
    await removeRecord(dataDir);
  }
}

function ownerLives(record: StoreRecord): boolean {
  return isAlive(record.owner.slice(0, record.owner.lastIndexOf('.')));
}
