import type { Redis } from 'ioredis';
import { addressesOf, clientOf } from './address.ts';
import { clusterClient, isClusterNode, type Store, silenceMs } from './cluster.ts';
import { within } from './failures.ts';

export type { Store } from './cluster.ts';

/** For the calls of requests: fails at once (503) what cannot be sent, and never repeats what may have run. */
const calls = {
  protocol: 2 as const,
  // Queueing a call until the store is back would let it run after its caller has gone.
  enableOfflineQueue: false,
  // A call in flight when the connection breaks may have run: only the caller, with its Idempotency-Key, may repeat it.
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 1000),
  reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
  // A server or a network that falls silent must not keep callers waiting for as long as TCP would.
  socketTimeout: 5_000,
  keepAlive: 5_000,
  // Whoever ends a connection has all its answers; one that never was would be waited for, two seconds long.
  disconnectTimeout: 0,
  lazyConnect: true,
};

/** For BullMQ and for the subscription, which wait for the store to come back. */
const { socketTimeout: _forCallsOnly, ...unbounded } = calls;
const patient = {
  ...unbounded,
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  autoResendUnfulfilledCommands: true,
};

/**
 * Connects to `redis://`, `rediss://`, `redis+sentinel://`, `unix://` or a unix socket's path; as a cluster client when the server says it
 * is one. Resolves when commands can be sent; rejects when the first attempt fails.
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
    if (!isCluster) throw new Error('several servers are named, but the first that answers is no node of a cluster');
    return openedCluster(() => clusterClient(kind, addresses, redis.options, calls));
  }
  throw failure;
}

/** Of finding a cluster of which a node has just answered. */
const maxAttempts = 3;

/**
 * ioredis gives a node up that does not reply within a second, but a process that is busy for so long, as one that
 * starts on a slow machine, has only not read the reply.
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

/** One that is silent is given up, for the next of several or for whoever waits for the only one. */
async function connectTo(
  address: string,
  kind: 'calls' | 'patient',
  isOneOfSeveral: boolean,
): Promise<{ redis: Redis; isCluster: boolean }> {
  const redis = clientOf(address, kind === 'calls' ? calls : patient);
  // Every command reports its own failure, and reconnecting goes on by itself.
  redis.on('error', () => undefined);
  const asked = async (): Promise<boolean> => {
    await redis.connect();
    // Where it is refused the client goes on, in database 0.
    if (redis.options.db) await redis.select(redis.options.db);
    return isClusterNode(redis);
  };
  const isCluster = await opened(redis, () => within(isOneOfSeveral ? silenceMs : calls.socketTimeout, asked()));
  // BullMQ's duplicate for blocking would else fail for ever with its first attempt, and its worker take no job.
  redis.options.lazyConnect = false;
  return { redis, isCluster };
}

/** A client that could not connect would go on trying, and keep the process alive; what was wrong it only emits. */
async function opened<T>(client: Store, open: () => Promise<T>): Promise<T> {
  let cause: Error | undefined;
  const hear = (error: Error) => {
    cause = error;
  };
  client.on('error', hear);
  try {
    return await open();
  } catch (error) {
    client.disconnect();
    throw cause ?? error;
  } finally {
    client.off('error', hear);
  }
}
