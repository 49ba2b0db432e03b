import { createReadStream } from 'node:fs';
import { readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { sync } from './files.ts';
import { outputOf, type RedisServer } from './server-binary.ts';
import { LOGS, MANIFEST } from './store-folder.ts';

const APPENDED = /^file (\S+) seq \d+ type i\b.*\n/gm;
/** redis-check-aof would take a log for a manifest where a line of it begins with "file". */
const CHECKED = 'checked.manifest';
/** `$536870912\r`, the line of a number without its end. No whole command is as short. */
const LONGEST_NUMBER_LINE = 11;
/** More than Redis allows a remark (`#TS:1700000000`) to have. */
const LONGEST_REMARK = 1024;

/**
 * Truncates the append-only log where the incomplete call begins that a killed server left at its end. The server itself
 * cuts off only the incomplete command: the MULTI before it stays, and what is written after it becomes part of that
 * call. At the next start a call that nobody was answered is then half made, and was perhaps made again meanwhile (mended
 * in Valkey in August 2026, valkey-io/valkey#4342).
 *
 * redis-check-aof finds the place. Its `--fix` truncates at damage in the middle, too, and not where the log is in two
 * files, as it is while it is rewritten. Where a power cut has taken the end of the first, the server would refuse to
 * start once, and then start with a hole: here all behind the hole is removed as well.
 *
 * Only for a folder that no server runs on. Damage is left as it is: the server refuses it.
 *
 * @returns how many bytes it removed
 * @throws Error where the program cannot be run as redis-check-aof, or fails
 */
export async function dropUnfinished(dataDir: string, program: RedisServer, signal?: AbortSignal): Promise<number> {
  const folder = join(dataDir, LOGS);
  const manifest = await readFile(join(folder, MANIFEST), 'utf8').catch(() => '');
  const files = [...manifest.matchAll(APPENDED)];
  if (files.length === 0) return 0;
  const checked = join(folder, CHECKED);
  await writeFile(checked, files.map(([line]) => line).join(''));
  const said = await outputOf('redis-check-aof', checked, program, signal).finally(() => rm(checked, { force: true }));
  if (!said.startsWith('Start checking'))
    throw new Error(
      `${program.command}, as redis-check-aof, cannot check ${folder}: ${said.trim().split('\n').at(-1)}`,
    );
  // It stops at the first file that is not whole.
  const [, name, ...sizes] = [...said.matchAll(/filename=(\S+), size=(\d+), ok_up_to=(\d+),/g)].at(-1) ?? [];
  const [size = 0, whole = 0] = sizes.map(Number);
  const [first, ...behind] = files
    .slice(files.findIndex(([, file]) => file === name))
    .map(([, file = '']) => join(folder, file));
  if (name === undefined || first === undefined || (whole < size && !isCutOff(said, size))) return 0;
  let bytes = await cut(first, whole < size ? whole : await withoutRemark(first, size));
  if (bytes > 0) for (const path of behind) bytes += await cut(path, 0);
  return bytes;
}

/** Whether the file only ended too early. What redis-check-aof says is offset and reason; nothing between two lines. */
function isCutOff(said: string, size: number): boolean {
  const [, offset = '', why = ''] = /^0x *(\w+): (.*)/m.exec(said) ?? [];
  const rest = size - Number.parseInt(offset, 16);
  const [, read] = /^Expected to read \d+ bytes, got (\d+) bytes/.exec(why) ?? [];
  if (read !== undefined) return Number(read) === rest;
  // The two bytes where a line should end, of which there is none, or one.
  if (/^Expected \\r\\n, got: (00|0d00)/.test(why)) return rest <= LONGEST_NUMBER_LINE;
  return why === '' ? !said.includes('format error') : why.startsWith('Reached EOF');
}

/** redis-check-aof takes a remark for whole that lacks its line break: the next command would become part of it. */
async function withoutRemark(path: string, size: number): Promise<number> {
  const start = Math.max(0, size - LONGEST_REMARK);
  return start + (await buffer(createReadStream(path, { start }))).lastIndexOf('\n') + 1;
}

/** What is cut off stays so, though the server syncs only what it appends to. */
async function cut(path: string, kept: number): Promise<number> {
  const { size } = await stat(path);
  if (size === kept) return 0;
  await truncate(path, kept);
  await sync(path);
  return size - kept;
}
