import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { makeFolders, makePrivate } from '../../embedded/files.ts';
import { withFolderLock } from '../../embedded/folder-lock.ts';
import { nowOf, type Store, takesSnapshots } from '../../engine/redis/cluster.ts';
import { StoreUnavailable } from '../../engine/redis/scripts.ts';
import { copyDurably } from './copy.ts';
import { SnapshotFailure } from './failure.ts';
import { isSnapshotFile, partOf, publish, type Snapshot, tidy } from './folder.ts';

/** Long enough for another snapshot of a large store. */
const lockMs = 600_000;
const pollMs = 25;
const forbidden = /^(NOPERM|ERR unknown command|ERR command not allowed|ERR .*(not supported|disabled))/i;
const alternative = 'use its own backups or, if it is allowed, redis-cli -u <REDIS_URL> --rdb <file>';

export interface CreateOptions {
  readonly folder: string;
  /** how many to keep, including this one */
  readonly keep: number;
  /** the store is our own, so nobody else needs its dump file */
  readonly embedded: boolean;
  /** aborts the snapshot */
  readonly signal?: AbortSignal;
}

/**
 * Has the store dump its data in the background (BGSAVE), and keeps a copy of the file with its checksum.
 *
 * @throws SnapshotFailure SNAPSHOTS_UNAVAILABLE when the server does not allow it or its files are on another machine
 */
export async function createSnapshot(store: Store, options: CreateOptions): Promise<Snapshot> {
  if (!takesSnapshots(store)) throw unavailable(`each node of a cluster writes its own file: ${alternative}`);
  const { folder, keep, embedded, signal } = options;
  await makeFolders(folder);
  await makePrivate(folder, isSnapshotFile);
  const create = async (): Promise<Snapshot> => {
    await tidy(folder, keep);
    const startedAt = Date.now();
    const createdAt = new Date(await permitted(nowOf(store))).toISOString();
    const keys = await permitted(store.dbsize());
    const source = await dumpFile(store);
    const redisVersion = field(await permitted(store.info('server')), 'redis_version');
    await save(store, signal);
    await checkIsLocal(source, startedAt);
    const snapshot = createdAt.replace(/[:.]/g, '-');
    const part = partOf(join(folder, `${snapshot}.rdb`));
    try {
      const digest = await copyDurably(source, part, signal);
      const record: Snapshot = { snapshot, createdAt, ...digest, keys, redisVersion };
      await publish(folder, part, record);
      await tidy(folder, keep);
      return record;
    } finally {
      await rm(part, { force: true });
      if (embedded) await rm(source, { force: true });
    }
  };
  return withFolderLock(folder, lockMs, create, signal);
}

async function dumpFile(store: Redis): Promise<string> {
  const found = (await permitted(store.call('CONFIG', 'GET', 'dir', 'dbfilename'))) as string[];
  const [dir, name] = ['dir', 'dbfilename'].map((wanted) => found[found.indexOf(wanted) + 1]);
  if (!dir || !name || found.length < 4)
    throw unavailable(`the server does not reveal where its files are: ${alternative}`);
  return join(dir, name);
}

/** Runs a BGSAVE that starts after this call, and waits for its end. */
async function save(store: Redis, signal: AbortSignal | undefined): Promise<void> {
  let before = await savesOf(store);
  for (;;) {
    // SCHEDULE queues it behind a rewrite of the append-only file. A save already in progress started too early.
    const refusal = await permitted(store.bgsave('SCHEDULE')).then(
      () => null,
      (error: Error) => error,
    );
    if (!refusal) break;
    if (!/already in progress|already scheduled/i.test(refusal.message)) throw refusal;
    await sleep(pollMs, undefined, { signal });
    before = await savesOf(store);
  }
  for (;;) {
    const { begun, running, failed } = await savesOf(store);
    if (begun < before.begun)
      throw new SnapshotFailure('SNAPSHOT_FAILED', 'the store was restarted during the snapshot: try again');
    if (begun > before.begun && !running) {
      if (!failed) return;
      throw new SnapshotFailure('SNAPSHOT_FAILED', 'the store could not write its dump file: its log says why');
    }
    await sleep(pollMs, undefined, { signal });
  }
}

async function savesOf(store: Redis): Promise<{ begun: number; running: boolean; failed: boolean }> {
  const info = await permitted(store.info('persistence'));
  return {
    begun: Number(field(info, 'rdb_saves')),
    running: field(info, 'rdb_bgsave_in_progress') === '1',
    failed: field(info, 'rdb_last_bgsave_status') !== 'ok',
  };
}

/** The path may exist on this machine though the server is remote, so the file must have been written just now. */
async function checkIsLocal(path: string, startedAt: number): Promise<void> {
  const info = await stat(path).catch(() => null);
  if (info && info.mtimeMs >= startedAt - 1000) return;
  throw unavailable(`the server wrote ${path}, which is not on this machine or not readable: ${alternative}`);
}

function permitted<T>(reply: Promise<T>): Promise<T> {
  return reply.catch((error: Error) => {
    throw forbidden.test(error.message)
      ? unavailable(`the server does not allow it (${error.message}): ${alternative}`)
      : new StoreUnavailable(error.message);
  });
}

function unavailable(why: string): SnapshotFailure {
  return new SnapshotFailure('SNAPSHOTS_UNAVAILABLE', `no snapshots of this store: ${why}`);
}

function field(info: string, name: string): string {
  return new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
}
