import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, lstat, readdir, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders, makePrivate, sync } from './files.ts';
import type { ProcessIdentity } from './process-identity.ts';
import type { RedisServer } from './server-binary.ts';

/** sun_path has 104 bytes on macOS and 108 on Linux, including the terminating NUL. */
const LONGEST_SOCKET_PATH = 103;
/** Redis' folder for the append-only log and its manifest, inside the data folder. */
export const LOGS = 'appendonlydir';
export const MANIFEST = 'appendonly.aof.manifest';
const MARKER = 'clean';
const LOSS = 'loss';
const RESTORED = 'restored';
const RECORD = 'server.json';
/** The prefix of a folder in which a restore prepares a log. */
export const RESTORING = 'temp-restore-';
/** Names of Redis' temporary files for a log rewrite or a dump, and of such a folder. */
const TEMPORARY = /^temp-(rewriteaof-(bg-)?\d+\.aof|\d+\.rdb|restore-[0-9a-f]{8})$/;
const STORE_FILES = new Set([LOGS, MARKER, LOSS, RESTORED, RECORD, 'dump.rdb', 'redis.log', 'redis.log.1']);
/** A server's errors for damaged files and for unknown formats. */
const UNREADABLE =
  /Can't handle RDB|Wrong signature|Bad file format|Unexpected EOF|Unrecoverable error reading|Unable to obtain the AOF/;

/** `server.json` in a data folder: the server that uses it. */
export interface StoreRecord {
  /** the folder's own path: a copy of a data folder must not lead to the original's server */
  dataDir: string;
  socketPath: string;
  server: ProcessIdentity;
  /** the process that stops the server when it exits: its identity, a dot, and a random suffix per store */
  owner: string;
}

/**
 * Creates the folder when it is missing, and closes it and the files of the store in it to other users.
 *
 * @returns its real, absolute path
 * @throws Error with a one-line message when it cannot be created or written to
 */
export async function makeStoreFolder(path: string): Promise<string> {
  try {
    await makeFolders(path);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    await makePrivate(path, (name) => STORE_FILES.has(name) || TEMPORARY.test(name));
    return await realpath(path);
  } catch (error) {
    throw unusable(path, error as Error);
  }
}

/** Wraps a system error about a data folder, whose disk may be full, and names the setting. */
function unusable(path: string, { message }: Error): Error {
  return new Error(
    `DATA_DIR: ${path} cannot be used (${message}); it must be a folder that this user may write to, on a disk with free space`,
  );
}

/** Explains a failed start. For files that the server cannot read, its own message only advises truncating them. */
export function startError(error: NodeJS.ErrnoException, dataDir: string, { version }: RedisServer): Error {
  if (error.syscall !== undefined && !error.syscall.startsWith('spawn')) return unusable(dataDir, error);
  if (!UNREADABLE.test(error.message)) return error;
  return new Error(
    `${error.message}: its version is ${version}. If a newer version wrote these files, or Valkey rather than Redis (or the reverse), ` +
      `set REDIS_SERVER to that program; if they are damaged, move ${dataDir}/${LOGS} away and restore a snapshot`,
  );
}

/**
 * The socket of a server for this folder: inside it or, if that path is too long for a unix socket, in a private folder below
 * the system's temporary folder.
 *
 * @throws Error when the private folder belongs to another user
 */
export async function socketPathFor(dataDir: string): Promise<string> {
  const path = join(dataDir, 'redis.sock');
  if (Buffer.byteLength(path) <= LONGEST_SOCKET_PATH) return path;
  const name = `muster-${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`;
  const elsewhere = join(tmpdir(), name, 'redis.sock');
  await makeSocketFolder(dataDir, elsewhere);
  return elsewhere;
}

/**
 * Creates the private folder of a socket outside of the data folder.
 *
 * @throws Error when it belongs to another user
 */
export async function makeSocketFolder(dataDir: string, socketPath: string): Promise<void> {
  const folder = dirname(socketPath);
  if (folder === dataDir) return;
  await makeFolders(folder);
  const info = await lstat(folder);
  // Anyone may write to /tmp: someone else's folder could contain a fake server's socket.
  if (!info.isDirectory() || info.uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
}

/** Removes the private folder if it is empty. */
export async function removeSocketFolder(dataDir: string, socketPath: string): Promise<void> {
  const folder = dirname(socketPath);
  if (folder !== dataDir) await rmdir(folder).catch(() => undefined);
}

/** The folder's record; null if there is none, or if the folder is a copy of the one in the record. */
export async function readRecord(dataDir: string): Promise<StoreRecord | null> {
  try {
    const record = JSON.parse(await readFile(join(dataDir, RECORD), 'utf8')) as StoreRecord;
    return record.dataDir === dataDir ? record : null;
  } catch {
    return null;
  }
}

/** Replaces the record atomically. */
export async function writeRecord(record: StoreRecord): Promise<void> {
  const path = join(record.dataDir, RECORD);
  await writeFile(`${path}.new`, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** Removes the record once no server uses the folder. */
export async function removeRecord(dataDir: string): Promise<void> {
  await rm(join(dataDir, RECORD), { force: true });
}

/** Whether the last server in this folder, if any, exited with every acknowledged write on disk. */
export function isMarkedClean(dataDir: string): boolean {
  return existsSync(join(dataDir, MARKER)) || !existsSync(join(dataDir, LOGS));
}

/** Sets or removes the mark durably: after a power cut, a stale mark would hide a loss. */
export async function markClean(dataDir: string, clean: boolean): Promise<void> {
  await mark(dataDir, MARKER, clean);
}

/** Whether acknowledged writes may have been lost and `afterLoss` has not completed since. */
export function isMarkedLoss(dataDir: string): boolean {
  return existsSync(join(dataDir, LOSS));
}

/** Sets or removes that mark, which survives an exit of the process before the loss was handled. */
export async function markLoss(dataDir: string, loss: boolean): Promise<void> {
  await mark(dataDir, LOSS, loss);
}

/** Whether the store came from a snapshot and the steps after a restore have not been completed. */
export function isMarkedRestored(dataDir: string): boolean {
  return existsSync(join(dataDir, RESTORED));
}

/** Sets or removes that mark, which survives an interrupted restore. */
export async function markRestored(dataDir: string, restored: boolean): Promise<void> {
  await mark(dataDir, RESTORED, restored);
}

/**
 * Removes the temporary files of a killed server or restore: nobody reads them, and each may be as large as all the data.
 * Call it only for a folder without a running server, under its lock.
 */
export async function removeTemporaryFiles(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => TEMPORARY.test(name));
  for (const name of names) await rm(join(dataDir, name), { recursive: true, force: true });
}

async function mark(dataDir: string, name: string, set: boolean): Promise<void> {
  const path = join(dataDir, name);
  if (set) await writeFile(path, '', { mode: 0o600 });
  else await rm(path, { force: true });
  await sync(dataDir);
}
