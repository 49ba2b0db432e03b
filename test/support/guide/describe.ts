import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memberText } from '../../../src/engine/declare/reply.ts';
import { libraryOf } from '../../../src/engine/library/library.ts';
import { Builder } from '../../../src/engine/library/loader.ts';
import { luaRoot } from '../../../src/engine/library/source.ts';
import { dashboard, dashboardFile } from '../../../src/engine/metrics/dashboard.ts';
import { product as defaultProduct } from '../../../src/primitives/primitives.ts';
import type { Product } from '../../../src/primitives/room.ts';
import { writePromises } from './promises.ts';
import { type Reach, reaches } from './reach.ts';

/** The operators' guide to the store: a hand-written head, then all scripts and all keys. */
export const guideFile = join(luaRoot, 'README.md');
const headFile = join(luaRoot, 'README.head.md');

const reads = new Set(
  (
    'GET HGET HMGET HGETALL HEXISTS HLEN EXISTS ZRANGE ZREVRANGE ZSCORE ZMSCORE ZCARD ZRANK ZCOUNT XRANGE XREVRANGE XLEN ' +
    'LRANGE LINDEX LLEN LPOS SISMEMBER SMEMBERS SCARD SCAN HSCAN SSCAN ZSCAN SPUBLISH TYPE STRLEN PTTL TTL STREAM ' +
    // Functions of ours that read the key passed as their first argument.
    'page byScore byAge firstOf'
  ).split(' '),
);
/** A key, and the command or function whose first argument it is. */
const uses = /(?:\b(\w+)(?:', |\())?\bkeys\.(\w+)\(/g;

/** Names of the keys that the code may write: all except first arguments of reads. */
function writesOf(code: string): Set<string> {
  const written = [...code.matchAll(uses)].filter(([, command]) => command === undefined || !reads.has(command));
  const names = new Set(written.map(([, , name = '']) => name));
  // The sources do not contain journal.append: the loader adds it.
  return /\bemit\./.test(code) ? names.add('events') : names;
}

/**
 * The arguments that precede a script's own in every request: first those shared by the requests of a caller, then the
 * others.
 */
const sharedArgs = 'spaceId apiKeyDigest permission rateClass callName sweptThrough';
const requestArgs = 'requestId idempotencyDigest fingerprint unpacked';
const callArgs = `${sharedArgs} ${requestArgs}`;

/** A script's arguments in order, without the leading ones of lib/call. */
function argsOf(args: readonly string[]): string {
  const text = args.join(' ');
  return text.startsWith(callArgs) ? text.slice(callArgs.length).trim() : text;
}

const isCall = (script: Reach): boolean => script.request !== undefined;
const roomOf = (script: Reach): string => script.name.split('/', 1)[0] ?? '';

const cell = (text: string): string => text.replaceAll('|', '\\|');
const row = (...cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

function scriptTable(all: readonly Reach[], { words }: Product): string[] {
  const scripts = new Map(libraryOf(words).scripts.map((script) => [script.name, script]));
  const lines: string[] = [];
  for (const room of new Set(all.map(roomOf))) {
    lines.push(`### ${room}`, '', row('Script', 'What it does', 'Arguments', 'Reply'), '| --- | --- | --- | --- |');
    for (const script of all.filter((one) => roomOf(one) === room)) {
      const { args = [], rare = [], reply = [] } = scripts.get(script.name) ?? {};
      const code = (text: string): string => text && `\`${text}\``;
      const name = `\`${script.name}\`${isCall(script) ? '' : ' °'}`;
      lines.push(row(name, script.summary, code(argsOf([...args, ...rare])), code(reply.map(memberText).join(' '))));
    }
    lines.push('');
  }
  return lines;
}

function keyTable({ words }: Product): string[] {
  const files = new Builder(words)
    .files()
    .map(({ file, text }) => ({ file, written: writesOf(text.replaceAll(/--.*/g, '')) }));
  const lines = [row('Key', 'Type', 'Holds', 'Goes', 'Written in'), '| --- | --- | --- | --- | --- |'];
  for (const [key, { pattern, type, holds, goes }] of Object.entries(words.keys)) {
    // Every file that emits an event writes to the journal.
    const writers = files.filter(({ file, written }) => (key === 'events' ? file === 'lib/journal' : written.has(key)));
    const written = writers.map(({ file }) => file).join(', ') || 'processes, outside scripts';
    lines.push(row(`\`${pattern}\``, type, holds, goes, written));
  }
  return lines;
}

export function guide(product: Product = defaultProduct): string {
  const all = reaches(product.words);
  const head = readFileSync(headFile, 'utf8')
    .trimEnd()
    .replace('@sharedArgs@', sharedArgs)
    .replace('@requestArgs@', requestArgs);
  return `${[head, '', '## Scripts', '', ...scriptTable(all, product), '## Keys', '', ...keyTable(product)].join('\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(guideFile, guide());
  writeFileSync(dashboardFile, dashboard());
  writePromises();
}
