import { createHash } from 'node:crypto';
import { constants, existsSync } from 'node:fs';
import { access, lstat, readdir, readFile, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sync } from './durable.ts';
import { makeFolders } from './make-folders.ts';
import type { ProcessIdentity } from './process-identity.ts';
import type { RedisServer } from './server-binary.ts';

/** sun_path has 104 bytes on macOS and 108 on Linux, with the closing zero. */
const LONGEST_SOCKET_PATH = 103;
/** Where Redis keeps its append-only log in a data folder, and the file there that names the others. */
export const LOGS = 'appendonlydir';
export const MANIFEST = 'appendonly.aof.manifest';
const MARKER = 'clean';
const LOSS = 'loss';
const RESTORED = 'restored';
const RECORD = 'server.json';
/** What Redis writes a rewritten log and a dump into, before it renames them. */
const HALF_WRITTEN = /^temp-(rewriteaof-(bg-)?\d+\.aof|\d+\.rdb)$/;
/** A server says it of damaged files, and of those in a format that it does not know. */
const UNREADABLE =
  /Can't handle RDB|Bad file format|Unexpected EOF|Unrecoverable error reading|Unable to obtain the AOF/;

/** What a data folder says about the server that uses it: `server.json`. */
export interface StoreRecord {
  /** the folder's own path: a copy of a data folder must not lead to the original's server */
  dataDir: string;
  socketPath: string;
  server: ProcessIdentity;
  /** who stops the server at its own end: an identity of a process, a dot, and which of its stores */
  owner: string;
}

/**
 * Makes the folder (for this user alone) when it is missing.
 *
 * @returns its real, absolute path
 * @throws Error with one line when it cannot be made, or not be written to
 */
export async function makeStoreFolder(path: string): Promise<string> {
  try {
    await makeFolders(path);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return await realpath(path);
  } catch (error) {
    throw unusable(path, error as Error);
  }
}

/** What the system refuses in a data folder (it may be full), as one line that says whose setting it is. */
function unusable(path: string, { message }: Error): Error {
  return new Error(
    `DATA_DIR: ${path} cannot be used (${message}); it must be a folder that this user may write to, with room on its disk`,
  );
}

/** Why a start failed. What the server itself says of files that it cannot read is only how it could cut them off. */
export function explained(error: NodeJS.ErrnoException, dataDir: string, { version }: RedisServer): Error {
  if (error.syscall !== undefined && !error.syscall.startsWith('spawn')) return unusable(dataDir, error);
  if (!UNREADABLE.test(error.message)) return error;
  return new Error(
    `${error.message}: it is version ${version}; if a newer one, or the other of Redis and Valkey, wrote these files, ` +
      `set REDIS_SERVER to that; if they are damaged, move ${dataDir}/${LOGS} away and restore a snapshot`,
  );
}

/**
 * Where a server for this folder listens: in the folder, or, where that path is too long for a unix socket, in a
 * private folder below the system's temporary one.
 *
 * @throws Error when that private folder is another user's
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
 * Makes the private folder of a socket that is not in the data folder.
 *
 * @throws Error when it is another user's
 */
export async function makeSocketFolder(dataDir: string, socketPath: string): Promise<void> {
  const folder = dirname(socketPath);
  if (folder === dataDir) return;
  await makeFolders(folder);
  const info = await lstat(folder);
  // Anyone may write to /tmp: whoever made this folder first could listen there in our server's place.
  if (!info.isDirectory() || info.uid !== process.getuid?.()) throw new Error(`${folder} belongs to another user`);
}

/** Removes that folder where it is empty. */
export async function removeSocketFolder(dataDir: string, socketPath: string): Promise<void> {
  const folder = dirname(socketPath);
  if (folder !== dataDir) await rmdir(folder).catch(() => undefined);
}

/** What the folder says; null where it says nothing, or what a copied folder says of the original. */
export async function readRecord(dataDir: string): Promise<StoreRecord | null> {
  try {
    const record = JSON.parse(await readFile(join(dataDir, RECORD), 'utf8')) as StoreRecord;
    return record.dataDir === dataDir ? record : null;
  } catch {
    return null;
  }
}

/** Says it anew: a reader finds the old record or the new one, whole. */
export async function writeRecord(record: StoreRecord): Promise<void> {
  const path = join(record.dataDir, RECORD);
  await writeFile(`${path}.new`, `${JSON.stringify(record, null, 2)}\n`);
  await rename(`${path}.new`, path);
}

/** No server uses the folder any more. */
export async function removeRecord(dataDir: string): Promise<void> {
  await rm(join(dataDir, RECORD), { force: true });
}

/**
 * Whether the last server in this folder ended with everything it had acknowledged on disk, or there was none.
 */
export function isMarkedClean(dataDir: string): boolean {
  return existsSync(join(dataDir, MARKER)) || !existsSync(join(dataDir, LOGS));
}

/**
 * Sets or removes the mark. It is on the disk when this returns: after a power cut, an old mark would hide a loss.
 */
export async function markClean(dataDir: string, clean: boolean): Promise<void> {
  await mark(dataDir, MARKER, clean);
}

/**
 * Whether acknowledged writes may have been lost and nobody has seen to what follows from that.
 */
export function isMarkedLoss(dataDir: string): boolean {
  return existsSync(join(dataDir, LOSS));
}

/**
 * Sets or removes that mark: it outlives the process that found the loss, should it end before it has seen to it.
 */
export async function markLoss(dataDir: string, loss: boolean): Promise<void> {
  await mark(dataDir, LOSS, loss);
}

/**
 * Whether the store came from a snapshot and nobody has seen to what follows from that.
 */
export function isMarkedRestored(dataDir: string): boolean {
  return existsSync(join(dataDir, RESTORED));
}

/**
 * Sets or removes that mark: it outlives a restore that is cut short.
 */
export async function markRestored(dataDir: string, restored: boolean): Promise<void> {
  await mark(dataDir, RESTORED, restored);
}

/**
 * Removes what a server that was killed left half-written: each time as much as all the data, and nobody reads it.
 * Only for a folder that no server runs on.
 */
export async function removeHalfWritten(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => HALF_WRITTEN.test(name));
  for (const name of names) await rm(join(dataDir, name), { force: true });
}

async function mark(dataDir: string, name: string, set: boolean): Promise<void> {
  const path = join(dataDir, name);
  if (set) await writeFile(path, '');
  else await rm(path, { force: true });
  await sync(dataDir);
}
