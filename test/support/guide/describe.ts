import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memberText } from '../../../src/engine/declare/reply.ts';
import { libraryOf } from '../../../src/engine/library/library.ts';
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
const sharedArgs = 'spaceId apiKeyDigest permission rateClass callName drainedThrough';
const requestArgs = 'requestId idempotencyDigest fingerprint unpacked';
const callArgs = `${sharedArgs} ${requestArgs}`;

/** A script's arguments in order, without the leading ones of lib/call. */
function argsOf(args: readonly string[]): string {
  const text = args.join(' ');
  return text.startsWith(callArgs) ? text.slice(callArgs.length).trim() : text;
}

const isCall = (script: Reach): boolean => script.request !== undefined;
const roomOf = (script: Reach): string => script.name.split('/', 1)[0] ?? '';

/** Shortens script names: `every call` for all that answer requests, `room/*` for all of a room. */
function inShort(names: ReadonlySet<string>, all: readonly Reach[]): string {
  const left = new Set(names);
  const short: string[] = [];
  const take = (label: string, scripts: readonly Reach[]): void => {
    if (scripts.length < 2 || !scripts.every(({ name }) => left.has(name))) return;
    short.push(label);
    for (const { name } of scripts) left.delete(name);
  };
  take('every call', all.filter(isCall));
  take(
    'every call that is not a read',
    all.filter(({ request }) => request === 'write' || request === 'worker'),
  );
  for (const room of new Set(all.map(roomOf)))
    take(
      `${room}/*`,
      all.filter((script) => roomOf(script) === room),
    );
  return [...short, ...left].join(', ') || 'processes, outside scripts';
}

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

function keyTable(all: readonly Reach[], { words }: Product): string[] {
  const writes = all.map(({ name, code }) => ({ name, written: writesOf(code) }));
  const lines = [row('Key', 'Type', 'Holds', 'Goes', 'Written by'), '| --- | --- | --- | --- | --- |'];
  for (const [key, { pattern, type, holds, goes }] of Object.entries(words.keys)) {
    const writers = writes.filter(({ written }) => written.has(key)).map(({ name }) => name);
    lines.push(row(`\`${pattern}\``, type, holds, goes, inShort(new Set(writers), all)));
  }
  return lines;
}

export function guide(product: Product = defaultProduct): string {
  const all = reaches(product.words);
  const head = readFileSync(headFile, 'utf8')
    .trimEnd()
    .replace('@sharedArgs@', sharedArgs)
    .replace('@requestArgs@', requestArgs);
  return `${[head, '', '## Scripts', '', ...scriptTable(all, product), '## Keys', '', ...keyTable(all, product)].join('\n')}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(guideFile, guide());
  writeFileSync(dashboardFile, dashboard());
  writePromises();
}
