import { createReadStream } from 'node:fs';
import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sync } from './files.ts';
import { outputOf, type RedisServer } from './server-binary.ts';
import { LOGS, MANIFEST } from './store-folder.ts';

const APPENDED = /^file (\S+) seq \d+ type i\b.*\n/gm;
/** redis-check-aof takes a log for a manifest if one of its lines starts with "file". */
const CHECKED = 'checked.manifest';
/** `$536870912\r`, the line of a number without its end. Complete commands are longer. */
const LONGEST_NUMBER_LINE = 11;
/** Redis' limit for an annotation (`#TS:1700000000`). */
const LONGEST_ANNOTATION = 1024;

/**
 * Truncates the append-only log before the incomplete call that a killed server left at its end. The server itself only
 * drops the incomplete command: the MULTI before it stays, and later writes become part of that transaction. After the
 * next start, a call that was never answered would be half applied, and perhaps retried meanwhile (fixed in Valkey in
 * August 2026, valkey-io/valkey#4342).
 *
 * redis-check-aof finds the position. Its `--fix` is not used: it would also truncate at damage in the middle, and it
 * does not handle a log in two files, as during a rewrite. If a power cut has lost the end of the first file, the
 * server would refuse to start once, and then start with a gap. So everything after the gap is removed here as well.
 *
 * Call it only for a folder without a running server. Damage is left as it is: the server refuses it.
 *
 * @returns the number of bytes removed
 * @throws Error when the program cannot be run as redis-check-aof, or fails
 */
export async function dropUnfinished(dataDir: string, program: RedisServer, signal?: AbortSignal): Promise<number> {
  const folder = join(dataDir, LOGS);
  const manifest = await readFile(join(folder, MANIFEST), 'utf8').catch(() => '');
  const files = [...manifest.matchAll(APPENDED)];
  if (files.length === 0) return 0;
  const checked = join(folder, CHECKED);
  await writeFile(checked, files.map(([line]) => line).join(''));
  const output = await outputOf('redis-check-aof', checked, program, signal).finally(() =>
    rm(checked, { force: true }),
  );
  if (!output.startsWith('Start checking'))
    throw new Error(
      `${program.command}, as redis-check-aof, cannot check ${folder}: ${output.trim().split('\n').at(-1)}`,
    );
  // It stops at the first incomplete file.
  const [, name, ...sizes] = [...output.matchAll(/filename=(\S+), size=(\d+), ok_up_to=(\d+),/g)].at(-1) ?? [];
  const [size = 0, validSize = 0] = sizes.map(Number);
  const [first, ...later] = files
    .slice(files.findIndex(([, file]) => file === name))
    .map(([, file = '']) => join(folder, file));
  if (name === undefined || first === undefined || (validSize < size && !isTruncated(output, size))) return 0;
  let bytes = await truncateDurably(first, validSize < size ? validSize : await sizeWithoutAnnotation(first, size));
  if (bytes > 0) for (const path of later) bytes += await truncateDurably(path, 0);
  return bytes;
}

/**
 * Whether the file merely ends too early. redis-check-aof prints an offset and a reason, or nothing if the file ends between
 * two lines.
 */
function isTruncated(output: string, size: number): boolean {
  const [, offset = '', why = ''] = /^0x *(\w+): (.*)/m.exec(output) ?? [];
  const rest = size - Number.parseInt(offset, 16);
  const [, read] = /^Expected to read \d+ bytes, got (\d+) bytes/.exec(why) ?? [];
  if (read !== undefined) return Number(read) === rest;
  // None or only the first of the two bytes that end a line.
  if (/^Expected \\r\\n, got: (00|0d00)/.test(why)) return rest <= LONGEST_NUMBER_LINE;
  return why === '' ? !output.includes('format error') : why.startsWith('Reached EOF');
}

/** redis-check-aof accepts an annotation without its line break; the next command would become part of it. */
async function sizeWithoutAnnotation(path: string, size: number): Promise<number> {
  const start = Math.max(0, size - LONGEST_ANNOTATION);
  return start + (await buffer(createReadStream(path, { start }))).lastIndexOf('\n') + 1;
}

/** Truncates a file and flushes it: the server only flushes files that it appends to. */
async function truncateDurably(path: string, newSize: number): Promise<number> {
  const { size } = await stat(path);
  if (size === newSize) return 0;
  await truncate(path, newSize);
  await sync(path);
  return size - newSize;
}
