import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { addressesOf, clientOf } from '../engine/redis/address.ts';
import { inShort } from '../engine/redis/failures.ts';
import { loaded } from './ready.ts';

const retryEveryMs = 100;

interface AwaitOptions {
  readonly log: (line: string) => void;
  /** stops waiting; resolves without an error */
  readonly signal: AbortSignal;
  /** how long to wait for an unreachable server; a server that is loading its data has no limit */
  readonly timeoutMs?: number;
  readonly logEveryMs?: number;
}

/**
 * Waits until the server in REDIS_URL is up and has loaded its data, logging progress.
 *
 * @throws Error with a one-line message after the timeout, or immediately when waiting cannot help
 */
export async function awaitStore(url: string, options: AwaitOptions): Promise<void> {
  const { log, signal, timeoutMs = 60_000, logEveryMs = 5_000 } = options;
  const startedAt = Date.now();
  let nextLogAt = startedAt;
  let deadline = startedAt + timeoutMs;
  while (!signal.aborted) {
    const { state, why } = await probe(url);
    if (state === 'ready') return;
    if (state === 'refused') throw new Error(`REDIS_URL: ${why}`);
    const now = Date.now();
    if (state === 'loading') deadline = now + timeoutMs;
    if (now >= deadline) {
      const seconds = Math.round(timeoutMs / 1000);
      throw new Error(`REDIS_URL: the store was unreachable for ${seconds} s (${why}): start it, or correct REDIS_URL`);
    }
    if (now >= nextLogAt) {
      nextLogAt = now + logEveryMs;
      const left = Math.ceil((deadline - now) / 1000);
      log(
        state === 'loading'
          ? `the store is loading its data${why}`
          : `waiting for the store (${why}), giving up in ${left} s`,
      );
    }
    await sleep(retryEveryMs);
  }
}

type State = 'ready' | 'loading' | 'refused' | 'away';

interface Probe {
  readonly state: State;
  readonly why: string;
}

/** One ready node of a cluster is enough; otherwise prefer one that is loading. */
async function probe(url: string): Promise<Probe> {
  let best: Probe | undefined;
  for (const address of addressesOf(url)) {
    const found = await probeServer(address);
    if (found.state === 'ready' || found.state === 'refused') return found;
    if (!best || found.state === 'loading') best = found;
  }
  return best ?? { state: 'away', why: 'no server is given' };
}

async function probeServer(address: string): Promise<Probe> {
  const redis = clientOf(address, {
    protocol: 2,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: 5_000,
    commandTimeout: 5_000,
  });
  let cause: unknown;
  // The first error has the cause; later ones only report a closed connection.
  redis.on('error', (error: Error) => {
    cause ??= error;
  });
  try {
    await redis.connect();
    await redis.ping();
    await checkCapabilities(redis);
    return { state: 'ready', why: '' };
  } catch (error) {
    const why = inShort(cause ?? error);
    const refusal = refusals.find(([pattern]) => pattern.test(why));
    if (refusal) return { state: 'refused', why: refusal[1](why) };
    // A replica without its master or a cluster without a majority is up, but calls to it are answered 503.
    if (/^(MASTERDOWN|CLUSTERDOWN|BUSY|MISCONF|READONLY)/.test(why)) return { state: 'ready', why };
    return why.startsWith('LOADING') ? { state: 'loading', why: await loaded(redis) } : { state: 'away', why };
  } finally {
    redis.disconnect();
  }
}

/** Formed like a space's channel. */
const channel = 'muster:{-}:-';

/**
 * Tries commands that the server may lack or may deny this user. Otherwise the problem would show only during a call,
 * or never.
 */
async function checkCapabilities(redis: Redis): Promise<void> {
  await redis.info('server');
  if (redis.options.db) await redis.select(redis.options.db);
  const failOn = (pattern: RegExp, reply: Promise<unknown>) =>
    reply.catch((error: Error) => {
      if (pattern.test(error.message)) throw error;
    });
  // A user who may load functions may still be denied listing them.
  await failOn(/^ERR unknown/, redis.function('LIST', 'LIBRARYNAME', 'muster_'));
  // A cluster node may answer MOVED, as the channel is on another one.
  await failOn(/^NOPERM/, redis.spublish(channel, ''));
  await failOn(/^NOPERM/, redis.ssubscribe(channel));
}

/** Errors that waiting does not fix, and how to fix them. */
const refusals: readonly [pattern: RegExp, advice: (why: string) => string][] = [
  [
    /^(NOAUTH|WRONGPASS|ERR invalid password|ERR AUTH)/,
    (why) => `the store rejected the login (${why}): correct user and password`,
  ],
  [/^NOPERM/, (why) => `the store's user lacks a permission (${why}): docs/operate/scaling.md lists the ones it needs`],
  [/^DENIED/, (why) => `the store refused the connection (${why}): set a password on it, and put that into REDIS_URL`],
  [
    /^ERR (DB index|SELECT|value is not)/,
    (why) => `the store has no such database (${why}): choose another, or leave it out`,
  ],
  [
    /^ERR unknown/,
    (why) =>
      `the store cannot be used (${why}): Muster needs Redis 7 or Valkey 7.2 or newer, with INFO and FUNCTION allowed`,
  ],
  [
    /certificate|altnames/i,
    (why) =>
      `the store's certificate was rejected (${why}): put its CA into NODE_EXTRA_CA_CERTS, and use the host name that it is issued for`,
  ],
];
