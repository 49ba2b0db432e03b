import { randomBytes } from 'node:crypto';
import { readdir, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { makeFolders, sync, writeDurably } from '../../embedded/files.ts';
import { isAlive, self } from '../../embedded/process-identity.ts';
import { endProcess } from '../../embedded/redis-process.ts';
import { readRecord } from '../../embedded/store-folder.ts';
import { SnapshotFailure } from './failure.ts';

/** The JSON file that goes with a snapshot's RDB file. */
export interface Snapshot {
  /** the file's name without its extension */
  readonly snapshot: string;
  /** it includes everything acknowledged before this time */
  readonly createdAt: string;
  readonly bytes: number;
  readonly sha256: string;
  /** in the store when the snapshot was requested */
  readonly keys: number;
  readonly redisVersion: string;
}

/** A snapshot's file and record; null for an RDB file from elsewhere. */
export interface SnapshotFile {
  readonly path: string;
  readonly record: Snapshot | null;
}

const PART = '.part';
/** The name of a restore's folder, which has the process that made it. */
const ofRestore = /^restore-(.+)\.[0-9a-f]{8}\.part$/;
/** How long an abandoned server gets to end. */
const stopMs = 10_000;
/** Our own file names. Files that an operator put there are left alone. */
const ours = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.rdb$/;

export const isSnapshotFile = (name: string): boolean => ours.test(name.replace(/\.json$/, '.rdb'));

export function snapshotFolder(dataDir: string): string {
  return join(dataDir, 'snapshots');
}

/** All snapshots of the folder, newest first. A snapshot exists if its JSON does, which is written last and removed first. */
export async function listSnapshots(folder: string): Promise<Snapshot[]> {
  const names = await readdir(folder).catch(() => [] as string[]);
  const found: Snapshot[] = [];
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const record = await readSnapshot(join(folder, name));
    if (record) found.push(record);
  }
  return found.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

/**
 * Finds a snapshot by its name in the folder, or by the path of any RDB file.
 *
 * @throws SnapshotFailure SNAPSHOT_NOT_FOUND
 */
export async function findSnapshot(folder: string, name: string): Promise<SnapshotFile> {
  const isPath = name.endsWith('.rdb');
  const path = resolve(isPath ? name : join(folder, `${basename(name)}.rdb`));
  const record = await readSnapshot(path.replace(/\.rdb$/, '.json'));
  const isThere = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (isThere && (record || isPath)) return { path, record };
  throw new SnapshotFailure(
    'SNAPSHOT_NOT_FOUND',
    `there is no snapshot ${JSON.stringify(name)}: snapshot list shows those in ${folder}; for any other, give the path of its .rdb file`,
  );
}

/** A temporary path that nobody else uses; after a crash, `tidy` removes the file. */
export function partOf(path: string): string {
  return `${path}.${randomBytes(4).toString('hex')}${PART}`;
}

/** Makes a folder for the temporary store of a restore, named after this process: see `removeAbandoned`. */
export async function makeRestoreFolder(folder: string): Promise<string> {
  const path = partOf(join(folder, `restore-${self()}`));
  await makeFolders(path);
  return path;
}

/** Ends the servers and removes the folders, each as large as the store, that killed restores have left. */
export async function removeAbandoned(folder: string): Promise<void> {
  const real = await realpath(folder);
  for (const name of await readdir(real)) {
    const [, restoring] = ofRestore.exec(name) ?? [];
    if (restoring === undefined || isAlive(restoring)) continue;
    const path = join(real, name);
    const record = await readRecord(path);
    if (record) await endProcess(record.server, stopMs);
    await rm(path, { recursive: true, force: true });
  }
}

/** Renames the copied file into place, then the record. Each is complete on disk before it gets its name. */
export async function publish(folder: string, part: string, record: Snapshot): Promise<void> {
  const path = join(folder, record.snapshot);
  await rename(part, `${path}.rdb`);
  const json = partOf(`${path}.json`);
  await writeDurably(json, `${JSON.stringify(record, null, 2)}\n`);
  await sync(folder);
  await rename(json, `${path}.json`);
  await sync(folder);
}

/** Removes all but the newest `keep`, and leftovers of a crash. */
export async function tidy(folder: string, keep: number): Promise<void> {
  const all = await listSnapshots(folder);
  for (const { snapshot } of all.slice(keep)) await rm(join(folder, `${snapshot}.json`), { force: true });
  const kept = new Set(all.slice(0, keep).map(({ snapshot }) => snapshot));
  for (const name of await readdir(folder)) {
    const isOrphan = ours.test(name) && !kept.has(name.slice(0, -'.rdb'.length));
    const isPart = name.endsWith(PART) && !ofRestore.test(name);
    if (isPart || isOrphan) await rm(join(folder, name), { force: true });
  }
  await removeAbandoned(folder);
}

async function readSnapshot(path: string): Promise<Snapshot | null> {
  try {
    const record = JSON.parse(await readFile(path, 'utf8')) as Snapshot;
    const isOurs = typeof record.sha256 === 'string' && !Number.isNaN(Date.parse(record.createdAt));
    return isOurs && basename(path) === `${record.snapshot}.json` ? record : null;
  } catch {
    return null;
  }
}
