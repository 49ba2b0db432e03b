import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { findEmbedded, isOwned, startEmbedded } from '../../embedded/embedded.ts';
import { sync, writeDurably } from '../../embedded/files.ts';
import { withFolderLock } from '../../embedded/folder-lock.ts';
import type { RedisServer } from '../../embedded/server-binary.ts';
import {
  isMarkedRestored,
  LOGS,
  MANIFEST,
  makeStoreFolder,
  markClean,
  markRestored,
  RESTORING,
} from '../../embedded/store-folder.ts';
import { nowOf, type Store, shardsOf } from '../../engine/redis/cluster.ts';
import { connect } from '../../engine/redis/connection.ts';
import { inShort, orUnavailable } from '../../engine/redis/failures.ts';
import { Scripts } from '../../engine/redis/scripts.ts';
import { passNewest, type Renewing, renewEpochs } from '../../primitives/org/epochs.ts';
import { luaNames } from '../../primitives/primitives.ts';
import { copyDurably } from './copy.ts';
import { copyKeys } from './copy-keys.ts';
import { SnapshotFailure } from './failure.ts';
import { listSnapshots, makeRestoreFolder, removeAbandoned, type SnapshotFile, snapshotFolder } from './folder.ts';
import { verifySnapshot } from './verify.ts';

const lockMs = 60_000;
/** Redis' default name for the base of its append-only file. */
const base = 'appendonly.aof.1.base.rdb';

/** The destination of a restore, and its server. */
export interface Target {
  readonly dataDir: string;
  readonly program: RedisServer;
  readonly log: (line: string) => void;
  /** Aborts the restore, and leaves no server running. */
  readonly signal?: AbortSignal | undefined;
}

interface Restored {
  /** the path of the snapshot's file */
  readonly restored: string;
  readonly createdAt: string | null;
  readonly keys: number;
  /** organizations whose earlier journal cursors are now expired */
  readonly organizations: number;
}

/**
 * Repairs an embedded store after an unclean start, over its own connection (the store's `afterLoss`), so that no event id is
 * issued twice. Cursors stay valid, except at lost events; a restored store starts new generations of its journals. Resolves
 * with the number of organizations.
 */
export async function afterLoss(link: Redis, dataDir: string) {
  const store = { store: link, scripts: new Scripts(link, luaNames) };
  const isRestored = isMarkedRestored(dataDir);
  const organizations = await (isRestored ? renewEpochs : passNewest)(store);
  await markRestored(dataDir, false);
  return { organizations, isRestored };
}

/**
 * Restores a snapshot as the embedded store of a data folder that has none. A crash leaves either no store or a complete
 * one, whose next start renews the epochs.
 *
 * @throws SnapshotFailure for a damaged file, a store that is running or not empty, and a clock that was set back
 */
export async function restoreEmbedded(file: SnapshotFile, target: Target): Promise<Restored> {
  const { program, signal } = target;
  const dataDir = await makeStoreFolder(target.dataDir);
  const { sha256 } = await verifySnapshot(file, program, signal);
  await checkClock(file, dataDir, new Date().toISOString());
  await refuseNonEmpty({ ...target, dataDir });
  await withFolderLock(dataDir, lockMs, () => place(file.path, dataDir, sha256, signal), signal);
  try {
    return await firstStart(file, { ...target, dataDir });
  } catch (error) {
    throw new SnapshotFailure(
      'SNAPSHOT_FAILED',
      `the data was restored, but its redis-server failed (${inShort(error)}): start Muster on it, or restore into an empty store again`,
    );
  }
}

async function firstStart(file: SnapshotFile, target: Target): Promise<Restored> {
  let organizations = 0;
  const renew = async (link: Redis): Promise<void> => {
    ({ organizations } = await afterLoss(link, target.dataDir));
  };
  const embedded = await startEmbedded({ ...target, afterLoss: renew });
  try {
    const store = await connect(embedded.socketPath);
    const keys = await store.dbsize();
    store.disconnect();
    return { restored: file.path, createdAt: file.record?.createdAt ?? null, keys, organizations };
  } finally {
    await embedded.stop();
  }
}

/**
 * Copies a snapshot key by key into a running, empty store, through a temporary embedded one. It needs no access to that
 * server's files. API keys come last, so that nobody can make calls before everything else is there.
 *
 * @throws SnapshotFailure like restoreEmbedded
 */
export async function restoreInto(admin: Renewing, file: SnapshotFile, target: Target): Promise<Restored> {
  await checkClock(file, target.dataDir, new Date(await orUnavailable(nowOf(admin.store))).toISOString());
  if ((await sizeOf(admin.store)) > 0) {
    throw new SnapshotFailure(
      'STORE_NOT_EMPTY',
      'the store in REDIS_URL is not empty: restore into an empty one. If it lost its data, running Muster processes have written to it since: stop them, then FLUSHDB. If an earlier restore was interrupted: FLUSHDB',
    );
  }
  const folder = snapshotFolder(target.dataDir);
  const dataDir = await makeRestoreFolder(folder);
  await removeAbandoned(folder);
  try {
    const restored = await restoreEmbedded(file, { ...target, dataDir });
    const embedded = await startEmbedded({ ...target, dataDir });
    const from = await connect(embedded.socketPath);
    try {
      await copyKeys(from as Redis, admin.store, target.signal);
    } finally {
      from.disconnect();
      await embedded.stop();
    }
    return { ...restored, keys: await sizeOf(admin.store) };
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** The clock must be past every known snapshot, because event ids contain the time and must not be issued twice. */
async function checkClock(file: SnapshotFile, dataDir: string, now: string): Promise<void> {
  const moments = (await listSnapshots(snapshotFolder(dataDir))).map(({ createdAt }) => createdAt);
  const newest = [file.record?.createdAt ?? '', ...moments].sort().at(-1) ?? '';
  if (now > newest) return;
  throw new SnapshotFailure(
    'CLOCK_BEHIND',
    `it is ${now} by the clock, but a snapshot was made at ${newest}: correct the clock first, or event ids would be issued twice`,
  );
}

async function refuseNonEmpty(target: Target): Promise<void> {
  const { dataDir } = target;
  if (await isOwned(dataDir)) throw isRunning(dataDir);
  // Takes over and stops a server that a killed restore has left running.
  if (!existsSync(join(dataDir, LOGS)) && (await findEmbedded(dataDir)) === null) return;
  const found = await startEmbedded(target);
  await found.stop();
  if (found.wasEmpty) return;
  throw new SnapshotFailure(
    'STORE_NOT_EMPTY',
    `${dataDir} contains a store: move ${join(dataDir, LOGS)} away, or set DATA_DIR to another folder`,
  );
}

function isRunning(dataDir: string): SnapshotFailure {
  return new SnapshotFailure('STORE_RUNNING', `the store of ${dataDir} is running: stop it first`);
}

/** With `appendonly yes`, Redis ignores dump files but accepts an RDB file as the base of its append-only log. */
async function place(path: string, dataDir: string, sha256: string, signal?: AbortSignal): Promise<void> {
  // A server started since the check would write to deleted files.
  if ((await findEmbedded(dataDir)) !== null) throw isRunning(dataDir);
  const work = join(dataDir, `${RESTORING}${randomBytes(4).toString('hex')}`);
  await mkdir(work, { mode: 0o700 });
  try {
    const copied = await copyDurably(path, join(work, base), signal);
    if (copied.sha256 !== sha256)
      throw new SnapshotFailure('SNAPSHOT_DAMAGED', `${path} changed while it was being read`);
    await writeDurably(join(work, MANIFEST), `file ${base} seq 1 type b\n`);
    await sync(work);
    // Marked as restored and not as clean, so that the store's next start renews the epochs.
    await markRestored(dataDir, true);
    await markClean(dataDir, false);
    // The old log has no keys.
    await rm(join(dataDir, LOGS), { recursive: true, force: true });
    await rename(work, join(dataDir, LOGS));
    await sync(dataDir);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function sizeOf(store: Store): Promise<number> {
  const sizes = await orUnavailable(Promise.all(shardsOf(store).map((shard) => shard.dbsize())));
  return sizes.reduce((sum, size) => sum + size, 0);
}
