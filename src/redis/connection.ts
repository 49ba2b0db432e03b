import { Cluster, Redis } from 'ioredis';

/** Either kind of client: both send EVALSHA to where KEYS[1] lives. */
export type Store = Redis | Cluster;

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
  lazyConnect: true,
};

/** For BullMQ and for the subscription, which wait for the store to come back. */
const patient = { ...calls, enableOfflineQueue: true, maxRetriesPerRequest: null, autoResendUnfulfilledCommands: true };

/**
 * Connects to `redis://`, `rediss://`, `unix://` or a unix socket's path; as a cluster client when the server says it
 * is one. Resolves when commands can be sent; rejects when the first attempt fails.
 */
export async function connect(url: string, kind: 'calls' | 'patient' = 'calls'): Promise<Store> {
  const options = kind === 'calls' ? calls : patient;
  const redis = new Redis(url.replace(/^unix:\/\//, ''), options);
  // Every command reports its own failure, and reconnecting goes on by itself.
  redis.on('error', () => undefined);
  const isCluster = await opened(redis, async () => {
    await redis.connect();
    return String(await redis.info('cluster')).includes('cluster_enabled:1');
  });
  if (!isCluster) return redis;
  const { host = '127.0.0.1', port = 6379, username, password, tls } = redis.options;
  redis.disconnect();
  const { enableOfflineQueue, lazyConnect, retryStrategy: clusterRetryStrategy } = options;
  const login = { ...(username && { username }), ...(password && { password }), ...(tls && { tls }) };
  const cluster = new Cluster([{ host, port }], {
    enableOfflineQueue,
    lazyConnect,
    clusterRetryStrategy,
    redisOptions: { protocol: 2, ...login },
    shardedSubscribers: true,
  });
  cluster.on('error', () => undefined);
  await opened(cluster, () => cluster.connect());
  return cluster;
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
