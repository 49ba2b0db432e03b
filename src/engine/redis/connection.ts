import type { Redis } from 'ioredis';
import { addressesOf, clientOf } from './address.ts';
import { clusterClient, isClusterNode, type Store, silenceMs } from './cluster.ts';
import { within } from './failures.ts';

export type { Store } from './cluster.ts';

/** For requests: fails at once (503) if a call cannot be sent, and never repeats a call that may have run. */
const calls = {
  protocol: 2 as const,
  // Redis 7.0 does not know CLIENT SETINFO, and would count two errors for each connection.
  disableClientInfo: true,
  // A call queued until the store is back would run after its caller has gone.
  enableOfflineQueue: false,
  // A call in flight when the connection breaks may have run, so only the caller may repeat it, with its Idempotency-Key.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 1000),
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  // Don't wait as long as TCP does for a silent server or network.
  socketTimeout: 5_000,
  keepAlive: 5_000,
  // Nothing is pending at a disconnect. ioredis would otherwise wait two seconds for a connection that never opened.
  disconnectTimeout: 0,
  lazyConnect: true,
};

/** For BullMQ and the subscription, which wait until the store is back. */
const { socketTimeout: _forCallsOnly, ...unbounded } = calls;
const patient = {
  ...unbounded,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  autoResendUnfulfilledCommands: true,
};

/**
 * Connects to `redis://`, `rediss://`, `redis+sentinel://`, `unix://` or the path of a unix socket, with a cluster client if
 * the server is a cluster node. Resolves when commands can be sent; rejects if the first attempt fails.
 */
export async function connect(url: string, kind: 'calls' | 'patient' = 'calls'): Promise<Store> {
  const addresses = addressesOf(url);
  let failure: unknown;
  for (const address of addresses) {
    const found = await connectTo(address, kind, addresses.length > 1).catch((error) => {
      failure ??= error;
    });
    if (!found) continue;
    const { redis, isCluster } = found;
    if (!isCluster && addresses.length === 1) return redis;
    redis.disconnect();
    if (!isCluster) throw new Error('several servers are given, but the first one to answer is not a cluster node');
    return openedCluster(() => clusterClient(kind, addresses, redis.options, calls));
  }
  throw failure;
}

/** Attempts to discover a cluster through a node that has just answered. */
const maxAttempts = 3;

/**
 * Retries discovery. ioredis gives up on a node that does not reply within a second. But a process that is busy for that
 * long, such as at its start on a slow machine, may just not have read the reply.
 */
async function openedCluster(make: () => Store): Promise<Store> {
  for (let attempt = 1; ; attempt++) {
    const cluster = make();
    try {
      await opened(cluster, () => cluster.connect());
      return cluster;
    } catch (error) {
      if (attempt === maxAttempts) throw error;
    }
  }
}

/** Gives up on a silent server: sooner when there are others to try. */
async function connectTo(
  address: string,
  kind: 'calls' | 'patient',
  isOneOfSeveral: boolean,
): Promise<{ redis: Redis; isCluster: boolean }> {
  const redis = clientOf(address, kind === 'calls' ? calls : patient);
  // Commands report their own failures, and the client reconnects itself.
  redis.on('error', () => undefined);
  const inspect = async (): Promise<boolean> => {
    await redis.connect();
    // The client ignores a failed SELECT and stays in database 0.
    if (redis.options.db) await redis.select(redis.options.db);
    return isClusterNode(redis);
  };
  const isCluster = await opened(redis, () => within(isOneOfSeveral ? silenceMs : calls.socketTimeout, inspect()));
  // BullMQ's blocking duplicate would otherwise stay failed after its first attempt, and its worker take no jobs.
  redis.options.lazyConnect = false;
  return { redis, isCluster };
}

/**
 * Stops a client that could not connect, which would retry and keep the process alive. Throws the cause, which the client
 * only emits.
 */
async function opened<T>(client: Store, open: () => Promise<T>): Promise<T> {
  let cause: Error | undefined;
  const onError = (error: Error) => {
    cause = error;
  };
  client.on('error', onError);
  try {
    return await open();
  } catch (error) {
    client.disconnect();
    throw cause ?? error;
  } finally {
    client.off('error', onError);
  }
}
