import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Redis } from 'ioredis';
import { keyName } from '../engine/library/keys.ts';
import { type Store, shardsOf } from '../engine/redis/cluster.ts';
import { orUnavailable } from '../engine/redis/failures.ts';
import { mailboxKeys } from '../primitives/mailbox/keys.ts';
import type { Admin } from '../primitives/org/admin.ts';
import { orgKeys } from '../primitives/org/keys.ts';
import { spaceKeys } from '../primitives/space/keys.ts';
import { type Cli, examples } from './command.ts';

/** Keys of a step: less than a millisecond of the store's time, and a pause as long as ten of them. */
const stepSize = 100;
const pauseMs = 10;
const maxRows = 50;

const form = /^muster:\{(.+?)\}(?::(\d+)(?::(mailbox|message):([0-9a-f-]{36}))?(?::|$))?/;

interface Share {
  readonly org: string | null;
  readonly number: string | null;
  readonly mailboxId: string | null;
  bytes: number;
  keys: number;
}

export function addMemoryCommand(program: Command, cli: Cli): void {
  const memory = program
    .command('memory')
    .description("estimate the store's memory by space and mailbox, from a sample of its keys; it only reads")
    .option('--keys <n>', 'how many keys to look at; all if there are no more', wholeNumber, 20_000)
    .action(({ keys }: { keys: number }) => cli.answer((admin) => memoryOf(admin, keys)));
  examples(memory, 'memory', 'memory --keys 1000000');
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('it must be a whole number from 1 on');
}

/** SCAN goes through a server's keys in the order of their hashes, so that its first keys are a fair sample of all. */
async function memoryOf({ store }: Admin, keys: number): Promise<object> {
  const shards = shardsOf(store);
  const shares = new Map<string, Share>();
  let [total, seen] = [0, 0];
  await orUnavailable(
    (async () => {
      for (const shard of shards) {
        const size = await shard.dbsize();
        const found = await sample(shard, Math.ceil(keys / shards.length));
        const seenHere = found.reduce((sum, share) => sum + share.keys, 0);
        const scale = seenHere === 0 ? 0 : Math.max(1, size / seenHere);
        [total, seen] = [total + size, seen + seenHere];
        for (const share of found) add(shares, share, scale);
      }
    })(),
  );
  const rows = [...shares.values()].sort((a, b) => b.bytes - a.bytes);
  return {
    keys: total,
    sampledKeys: seen,
    bytes: Math.round(rows.reduce((sum, { bytes }) => sum + bytes, 0)),
    memory: await Promise.all(rows.slice(0, maxRows).map((share) => named(store, share))),
  };
}

function add(shares: Map<string, Share>, { org, number, mailboxId, bytes, keys }: Share, scale = 1): void {
  const name = [org, number, mailboxId].join();
  const share = shares.get(name) ?? { org, number, mailboxId, bytes: 0, keys: 0 };
  shares.set(name, share);
  share.bytes += bytes * scale;
  share.keys += keys * scale;
}

/** Looks at the first keys of a server, step by step. */
async function sample(server: Redis, keys: number): Promise<Share[]> {
  const shares = new Map<string, Share>();
  let cursor = '0';
  let seen = 0;
  do {
    const [next, page] = await server.scan(cursor, 'COUNT', stepSize);
    cursor = next;
    seen += page.length;
    const pipeline = server.pipeline();
    for (const key of page) {
      pipeline.memory('USAGE', key);
      // Only a message's record says whose it is.
      if (form.exec(key)?.[3] === 'message') pipeline.hget(key, 'mailboxId');
    }
    const replies = (await pipeline.exec()) ?? [];
    let at = 0;
    for (const key of page) {
      const [, org = null, number = null, kind, id = null] = form.exec(key) ?? [];
      // A key that is gone by now has no memory.
      const bytes = Number(replies[at++]?.[1] ?? 0);
      const mailboxId = kind === 'message' ? (replies[at++]?.[1] as string | null) : id;
      add(shares, { org, number, mailboxId, bytes, keys: 1 });
    }
    await sleep(pauseMs);
  } while (cursor !== '0' && seen < keys);
  return [...shares.values()];
}

/** Ids and names of a space and a mailbox. Without a space: what the organization, or the service itself, keeps. */
async function named(store: Store, { org, number, mailboxId, bytes, keys }: Share): Promise<object> {
  const of = { org: org ?? '', spaceNumber: number ?? '', mailboxId: mailboxId ?? '' };
  const [spaceId = null] =
    number === null ? [] : await store.zrange(keyName(orgKeys.spaces, of), number, number, 'BYSCORE');
  const nameOf = (key: string): Promise<string | null> => store.hget(key, 'name');
  return {
    org,
    spaceId,
    space: spaceId && (await nameOf(keyName(spaceKeys.space, { ...of, spaceId }))),
    mailboxId,
    mailbox: mailboxId && (await nameOf(keyName(mailboxKeys.mailbox, of))),
    bytes: Math.round(bytes),
    keys: Math.round(keys),
  };
}
