import { setTimeout as sleep } from 'node:timers/promises';
import { addressesOf, clientOf } from './address.ts';
import { loaded } from './redis-process.ts';

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
 * @throws Error with one line when the patience ends, or at once when the server refuses the login
 */
export async function awaitStore(url: string, options: PatienceOptions): Promise<void> {
  const { log, signal, patienceMs = 60_000, lineEveryMs = 5_000 } = options;
  const begun = Date.now();
  let nextLine = begun;
  let until = begun + patienceMs;
  while (!signal.aborted) {
    const { state, why } = await lookAround(url);
    if (state === 'ready') return;
    if (state === 'refused')
      throw new Error(`REDIS_URL: the store refuses the login (${why}): correct user and password`);
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
  let cause = '';
  // What it says first is why; what follows is only that the connection is closed.
  redis.on('error', (error: Error) => {
    cause ||= error.message;
  });
  try {
    await redis.connect();
    await redis.ping();
    return { state: 'ready', why: '' };
  } catch (error) {
    const why = cause || (error as Error).message;
    if (/^(NOAUTH|WRONGPASS|NOPERM|ERR invalid password|ERR AUTH)/.test(why)) return { state: 'refused', why };
    // A replica that has lost its master, a cluster without a majority: up, and answered 503 by us.
    if (/^(MASTERDOWN|CLUSTERDOWN|BUSY|MISCONF|READONLY)/.test(why)) return { state: 'ready', why };
    return why.startsWith('LOADING') ? { state: 'loading', why: await loaded(redis) } : { state: 'away', why };
  } finally {
    redis.disconnect();
  }
}
