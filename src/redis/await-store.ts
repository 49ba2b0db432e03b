import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { loaded } from '../embedded/ready.ts';
import { addressesOf, clientOf } from './address.ts';
import { inShort } from './failures.ts';

const tryEveryMs = 100;

interface PatienceOptions {
  readonly log: (line: string) => void;
  /** ends the waiting without a word */
  readonly signal: AbortSignal;
  /** for a server that is not there yet; one that loads its data is waited for without end */
  readonly patienceMs?: number;
  readonly lineEveryMs?: number;
}

/**
 * Waits until the server that REDIS_URL names is up and has loaded its data, with a line now and then.
 *
 * @throws Error with one line when the patience ends, or at once when the server is not one that could be used
 */
export async function awaitStore(url: string, options: PatienceOptions): Promise<void> {
  const { log, signal, patienceMs = 60_000, lineEveryMs = 5_000 } = options;
  const begun = Date.now();
  let nextLine = begun;
  let until = begun + patienceMs;
  while (!signal.aborted) {
    const { state, why } = await lookAround(url);
    if (state === 'ready') return;
    if (state === 'refused') throw new Error(`REDIS_URL: ${why}`);
    const now = Date.now();
    if (state === 'loading') until = now + patienceMs;
    if (now >= until) {
      const seconds = Math.round(patienceMs / 1000);
      throw new Error(
        `REDIS_URL: the store could not be reached for ${seconds} s (${why}): start it, or correct REDIS_URL`,
      );
    }
    if (now >= nextLine) {
      nextLine = now + lineEveryMs;
      const left = Math.ceil((until - now) / 1000);
      log(
        state === 'loading'
          ? `the store is loading its data${why}`
          : `waiting for the store (${why}), ${left} s more at most`,
      );
    }
    await sleep(tryEveryMs);
  }
}

type State = 'ready' | 'loading' | 'refused' | 'away';

interface Look {
  readonly state: State;
  readonly why: string;
}

/** Of several nodes of a cluster one is enough; where none is ready, one that will be is waited for. */
async function lookAround(url: string): Promise<Look> {
  let best: Look | undefined;
  for (const address of addressesOf(url)) {
    const seen = await look(address);
    if (seen.state === 'ready' || seen.state === 'refused') return seen;
    if (!best || seen.state === 'loading') best = seen;
  }
  return best ?? { state: 'away', why: 'no server is named' };
}

async function look(address: string): Promise<Look> {
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
  // What it says first is why; what follows is only that the connection is closed.
  redis.on('error', (error: Error) => {
    cause ??= error;
  });
  try {
    await redis.connect();
    await redis.ping();
    await offersAll(redis);
    return { state: 'ready', why: '' };
  } catch (error) {
    const why = inShort(cause ?? error);
    const refusal = refusals.find(([said]) => said.test(why));
    if (refusal) return { state: 'refused', why: refusal[1](why) };
    // A replica that has lost its master, a cluster without a majority: up, and answered 503 by us.
    if (/^(MASTERDOWN|CLUSTERDOWN|BUSY|MISCONF|READONLY)/.test(why)) return { state: 'ready', why };
    return why.startsWith('LOADING') ? { state: 'loading', why: await loaded(redis) } : { state: 'away', why };
  } finally {
    redis.disconnect();
  }
}

/** Of the form of every space's channel. */
const channel = 'muster:{-}:-';

/**
 * Asks for what a server may lack, or this user have no right to: each would fail in the middle of a call, or never be
 * noticed.
 */
async function offersAll(redis: Redis): Promise<void> {
  await redis.info('server');
  if (redis.options.db) await redis.select(redis.options.db);
  const may = (asked: Promise<unknown>, lacks: RegExp) =>
    asked.catch((error: Error) => {
      if (lacks.test(error.message)) throw error;
    });
  // Whoever may load functions need not be allowed to list them.
  await may(redis.function('LIST', 'LIBRARYNAME', 'muster_'), /^ERR unknown/);
  // A node of a cluster says that another has the channel.
  await may(redis.spublish(channel, ''), /^NOPERM/);
  await may(redis.ssubscribe(channel), /^NOPERM/);
}

/** What waiting does not mend, and what does. */
const refusals: readonly [said: RegExp, what: (why: string) => string][] = [
  [
    /^(NOAUTH|WRONGPASS|ERR invalid password|ERR AUTH)/,
    (why) => `the store refuses the login (${why}): correct user and password`,
  ],
  [
    /^NOPERM/,
    (why) => `the store's user may not do what is needed (${why}): README, "Scaling out", has the rights to give it`,
  ],
  [/^DENIED/, (why) => `the store refuses the connection (${why}): give it a password, and name that here`],
  [/^ERR (DB index|SELECT|value is not)/, (why) => `the store has no such database (${why}): name another, or none`],
  [
    /^ERR unknown/,
    (why) =>
      `the store cannot be used (${why}): Redis 7 or Valkey 7.2 or newer is needed, with INFO and FUNCTION allowed`,
  ],
  [
    /certificate|altnames/i,
    (why) => `the store's certificate is refused (${why}): name its CA in NODE_EXTRA_CA_CERTS, and the host as it does`,
  ],
];
