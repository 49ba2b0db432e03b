import { outputOf, type RedisServer } from '../../embedded/server-binary.ts';
import { type Digest, digestOf } from './copy.ts';
import { SnapshotFailure } from './failure.ts';
import type { SnapshotFile } from './folder.ts';

interface Verified extends Digest {
  /** as counted in the file */
  readonly keys: number;
}

/**
 * Reads the whole file: its checksum must match its record, and redis-check-rdb must accept it.
 *
 * @throws SnapshotFailure SNAPSHOT_DAMAGED, SNAPSHOT_TOO_NEW
 */
export async function verifySnapshot(
  file: SnapshotFile,
  program: RedisServer,
  signal?: AbortSignal,
): Promise<Verified> {
  const { path, record } = file;
  const digest = await digestOf(path, signal);
  if (record && (digest.bytes !== record.bytes || digest.sha256 !== record.sha256)) {
    throw damaged(
      path,
      `it has ${digest.bytes} bytes with SHA-256 ${digest.sha256}, but was made with ${record.bytes} and ${record.sha256}`,
    );
  }
  return { ...digest, keys: await checkWithRedis(file, program, signal) };
}

async function checkWithRedis(
  { path, record }: SnapshotFile,
  program: RedisServer,
  signal?: AbortSignal,
): Promise<number> {
  const output = await outputOf('redis-check-rdb', path, program, signal);
  const keys = /RDB looks OK/.test(output) ? /(\d+) keys read/.exec(output)?.[1] : undefined;
  if (keys !== undefined) return Number(keys);
  if (output.includes("Can't handle RDB format")) {
    const writer = record ? `version ${record.redisVersion}` : 'a newer version';
    throw new SnapshotFailure(
      'SNAPSHOT_TOO_NEW',
      `${path} was written by ${writer} of Redis or Valkey, and version ${program.version} cannot read it: set REDIS_SERVER to one that can`,
    );
  }
  const lines = output.split('\n').filter((line) => /error|can't|\[additional/i.test(line));
  const why = lines.join(' | ').replaceAll(/-{2,}/g, '').trim();
  throw damaged(path, `redis-check-rdb rejects it (${why || output.trim().split('\n').at(-1)})`);
}

function damaged(path: string, why: string): SnapshotFailure {
  return new SnapshotFailure(
    'SNAPSHOT_DAMAGED',
    `${path} is damaged: ${why}; use another snapshot (see snapshot list)`,
  );
}
