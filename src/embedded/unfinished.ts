import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { LOGS, MANIFEST } from './store-folder.ts';

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;
const REMARK = 0x23;
/** A whole line with its number, or the beginning of one. */
const COUNT = /^(?:\*(\d+)\r\n|\*\d*\r?|)$/;
const LENGTH = /^(?:\$(\d+)\r\n|\$\d*\r?|)$/;

/** A command as the log holds it; `name` only where it has no arguments, as MULTI and EXEC. */
interface Entry {
  readonly end: number;
  readonly name?: string;
}

/**
 * Takes off the end of the append-only log what a killed server had only begun to write, back to the last call that is
 * there as a whole. The server itself cuts off only the command that is not whole: the MULTI before it stays, and what is
 * written after it becomes part of that call. At the next start a call that nobody was answered is then half made, and
 * was perhaps made again meanwhile (mended in Valkey in August 2026, valkey-io/valkey#4342).
 *
 * The log is in two files while it is rewritten. Where a power cut has taken the end of the first, the server would
 * refuse to start once, and then start with a hole: what is behind the hole is taken off as well.
 *
 * Only for a folder that no server runs on. Damage is left as it is: the server refuses it.
 *
 * @returns how many bytes it took off
 */
export async function dropUnfinished(dataDir: string): Promise<number> {
  const folder = join(dataDir, LOGS);
  let dropped = 0;
  for (const name of await logs(folder)) {
    const path = join(folder, name);
    const size = await stat(path).then(
      (info) => info.size,
      () => 0,
    );
    if (size === 0) continue;
    const kept = dropped > 0 ? 0 : await wholeThrough(path, size);
    if (kept === size) continue;
    await cut(path, kept);
    dropped += size - kept;
  }
  return dropped;
}

/** The files that commands are appended to, one after the other, as the manifest names them. */
async function logs(folder: string): Promise<string[]> {
  const manifest = await readFile(join(folder, MANIFEST), 'utf8').catch(() => '');
  return [...manifest.matchAll(/^file (\S+) seq \d+ type i\b/gm)].map(([, name = '']) => name);
}

async function cut(path: string, size: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.truncate(size);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Where the last whole call ends in a file; its size where it is not only cut off, but damaged. */
async function wholeThrough(path: string, size: number): Promise<number> {
  let rest: Buffer = Buffer.alloc(0);
  /** Where that begins in the file. */
  let restAt = 0;
  let multiAt: number | undefined;
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let entry = entryAt(rest, from); entry !== 'cut off'; entry = entryAt(rest, from)) {
      if (entry === 'damaged') return size;
      if (entry.name === 'MULTI') multiAt ??= restAt + from;
      if (entry.name === 'EXEC') multiAt = undefined;
      from = entry.end;
    }
    rest = rest.subarray(from);
    restAt += from;
  }
  return multiAt ?? restAt;
}

/** `*2`, then for each word `$3` and itself, each behind a line break of two bytes; or a remark of one line. */
function entryAt(bytes: Buffer, from: number): Entry | 'cut off' | 'damaged' {
  let end = lineEnd(bytes, from);
  if (bytes[from] === REMARK) return bytes[end - 1] === NEWLINE ? { end } : 'cut off';
  const words = numberIn(COUNT, bytes, from, end);
  if (typeof words === 'string') return words;
  let start = end;
  for (let word = 0; word < words; word++) {
    start = lineEnd(bytes, end);
    const length = numberIn(LENGTH, bytes, end, start);
    if (typeof length === 'string') return length;
    end = start + length + 2;
    if (end > bytes.length) return 'cut off';
  }
  return words === 1 ? { end, name: bytes.toString('latin1', start, end - 2) } : { end };
}

/** Behind the line break, or behind all there is. */
function lineEnd(bytes: Buffer, from: number): number {
  return bytes.indexOf(NEWLINE, from) + 1 || bytes.length;
}

function numberIn(pattern: RegExp, bytes: Buffer, from: number, end: number): number | 'cut off' | 'damaged' {
  const found = pattern.exec(bytes.toString('latin1', from, end));
  if (!found) return 'damaged';
  return found[1] === undefined ? 'cut off' : Number(found[1]);
}
