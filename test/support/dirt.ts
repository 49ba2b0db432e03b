import { setTimeout as sleep } from 'node:timers/promises';
import { storedFields } from '../../src/engine/declare/record.ts';
import type { KeyDeclaration } from '../../src/engine/library/keys.ts';
import { connect, type Store } from '../../src/engine/redis/connection.ts';
import { luaNames } from '../../src/primitives/primitives.ts';
import { otherClients } from './clients.ts';

const { keys: allKeys } = luaNames;
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

/** A regular expression that matches exactly the keys a pattern describes. A caller's `key` may contain any characters. */
function keyMatcher({ pattern }: KeyDeclaration): RegExp {
  const source = pattern
    .replace(/[{}]/g, '\\$&')
    .replace('{org\\}', '{[a-z0-9-]{3,40}\\}')
    .replace(/<(\w+)>/g, (_, name: string) =>
      name.endsWith('Id') ? uuid : name.endsWith('Number') ? '[0-9]+' : name === 'key' ? '.+' : '[^:]+',
    )
    .replace('*', '.*');
  return new RegExp(`^${source}$`, 's');
}

const declared = Object.values(allKeys).map((key) => ({ form: keyMatcher(key), type: key.type, pattern: key.pattern }));
/** The key of the test clock. */
const clock = /^muster:\{[a-z0-9-]+\}:clock(:ticks)?$/;
/** How often to look until the server has noticed that a connection was closed. */
const patience = 200;

/** Leftovers of a test run in its store: connections, undeclared keys and fields. */
export async function dirt(url: string, known: ReadonlySet<string>): Promise<string[]> {
  const store = await connect(url);
  try {
    return [...(await leaks(store, known)), ...(await undeclaredKeys(store)), ...(await undeclaredFields(store))];
  } finally {
    store.disconnect();
  }
}

async function leaks(store: Store, known: ReadonlySet<string>): Promise<string[]> {
  let left: string[] = [];
  for (let i = 0; i < patience; i++) {
    left = (await otherClients(store)).filter((id) => !known.has(id));
    if (left.length === 0) return [];
    await sleep(10);
  }
  const list = String(await store.call('CLIENT', 'LIST')).split('\n');
  return list.filter((line) => left.some((id) => line.startsWith(`id=${id} `))).map((line) => `leaked: ${line}`);
}

async function undeclaredKeys(store: Store): Promise<string[]> {
  const found: string[] = [];
  let cursor = '0';
  do {
    const [next, keys] = (await store.call('SCAN', cursor, 'COUNT', 1000)) as [string, string[]];
    const types = await Promise.all(keys.map((key) => store.type(key)));
    found.push(...keys.filter((key, i) => !isDeclared(key, types[i] ?? '')).map((key) => `undeclared key: ${key}`));
    cursor = next;
  } while (cursor !== '0' && found.length < 20);
  return found.slice(0, 20);
}

/** The most hashes checked for undeclared fields. */
const maxHashes = 20_000;
/** Rooms store their own fields in the records of a scope, a space and an organization. */
const shared = ['scope', 'space', 'org'];
const records = [...luaNames.records.values()].flatMap((record) => {
  const key = allKeys[record.luaName];
  if (key?.type !== 'hash' || shared.includes(record.luaName)) return [];
  return [{ form: keyMatcher(key), names: new Set(storedFields(record).map(([name]) => name)) }];
});

async function undeclaredFields(store: Store): Promise<string[]> {
  const found = new Set<string>();
  let looked = 0;
  let cursor = '0';
  do {
    const [next, keys] = (await store.call('SCAN', cursor, 'COUNT', 1000, 'TYPE', 'hash')) as [string, string[]];
    await Promise.all(
      keys.map(async (key) => {
        const record = records.find(({ form }) => form.test(key));
        if (!record || looked++ > maxHashes) return;
        for (const field of await store.hkeys(key)) if (!record.names.has(field)) found.add(`${key}: ${field}`);
      }),
    );
    cursor = next;
  } while (cursor !== '0' && found.size < 20);
  return [...found].slice(0, 20).map((field) => `undeclared field: ${field}`);
}

/** Whether a pattern describes the key with this type. BullMQ's keys have any type; `none` means just expired. */
export function isDeclared(key: string, type: string): boolean {
  if (clock.test(key) || type === 'none') return true;
  return declared.some(({ form, type: right, pattern }) => form.test(key) && (right === type || pattern.endsWith('*')));
}
