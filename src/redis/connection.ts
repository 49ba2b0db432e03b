import { Cluster, type ClusterOptions, Command, type Redis } from 'ioredis';
import { addressesOf, clientOf } from './address.ts';
import { CallsCluster } from './calls-cluster.ts';
import { within } from './failures.ts';
import { PatientCluster } from './patient-cluster.ts';

/** Either kind of client: both send a call to where its KEYS[1] lives. */
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

/** A node of a cluster that cannot be connected to, or is silent, for this long is given up: its calls are answered. */
const connectMs = 1_000;
const silenceMs = 3_000;
/** What nobody told us of (a slot that moved while nothing was sent there) is found out after this long. */
const refreshMs = 2_000;

const nodeOptions = {
  protocol: calls.protocol,
  connectTimeout: connectMs,
  keepAlive: calls.keepAlive,
  maxRetriesPerRequest: null,
};
const clusterOptions = {
  // Whether the slots are all served is for each call to find out: those of living shards go on.
  enableReadyCheck: false,
  clusterRetryStrategy: calls.retryStrategy,
  // The names that the nodes tell are those in their certificates.
  dnsLookup: (address, found) => found(null, address),
  lazyConnect: true,
} satisfies ClusterOptions;
/**
 * As `calls`: only what the cluster itself refused (MOVED, ASK, TRYAGAIN) is sent again, for about a second, and a
 * shard that is away is no matter to calls of the others.
 */
const clusterCalls = {
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnTryAgain: 100,
  maxRedirections: 24,
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
    return connectCluster(addresses, redis, kind);
  }
  throw failure;
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
    if (!String(await redis.info('cluster')).includes('cluster_enabled:1')) return false;
    if ((await redis.cluster('SLOTS')).some(([, , node]) => node?.[0] === ''))
      throw new Error('a node of the cluster does not know its address: set its cluster-announce-ip');
    return true;
  };
  const isCluster = await opened(redis, () => within(isOneOfSeveral ? silenceMs : calls.socketTimeout, asked()));
  // BullMQ's duplicate for blocking would else fail for ever with its first attempt, and its worker take no job.
  redis.options.lazyConnect = false;
  return { redis, isCluster };
}

async function connectCluster(addresses: readonly string[], one: Redis, kind: 'calls' | 'patient'): Promise<Cluster> {
  const { username, password, tls } = one.options;
  const login = { ...(username && { username }), ...(password && { password }), ...(tls && { tls }) };
  const redisOptions = { ...nodeOptions, ...login };
  const seeds = addresses.map((address) => {
    if (address.startsWith('/')) throw new Error('a cluster is named by host and port, not by a socket');
    const { hostname, port } = new URL(address);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  });
  // A node that loads its data is to say so: a call that waited for it would run after its caller has gone.
  const bounded = { ...redisOptions, socketTimeout: silenceMs, enableReadyCheck: false };
  const cluster =
    kind === 'calls'
      ? new CallsCluster(seeds, { ...clusterOptions, ...clusterCalls, redisOptions: bounded })
      : new PatientCluster(seeds, { ...clusterOptions, redisOptions, shardedSubscribers: true });
  cluster.on('error', () => undefined);
  await opened(cluster, () => cluster.connect());
  refreshNowAndThen(cluster);
  return cluster;
}

/** The client's own timer for it is set again where the client is ended while it asks, and no process ends with it. */
function refreshNowAndThen(cluster: Cluster): void {
  const timer = setInterval(() => cluster.refreshSlotsCache(), refreshMs).unref();
  cluster.once('end', () => clearInterval(timer));
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

/** The servers that hold the data between them: one, or the masters of a cluster. */
export function shardsOf(store: Store): readonly Redis[] {
  return store instanceof Cluster ? store.nodes('master') : [store];
}

/** `host:port` of the master that serves a key; '' where there is one server. */
export function addressOf(store: Store, key: string): string {
  if (!(store instanceof Cluster)) return '';
  return store.slots[new Command('exists', [key]).getSlot()]?.[0] ?? '';
}

/** The server that has a key, for commands without one; any of a cluster that does not know it. */
export function serverOf(store: Store, key: string): Store {
  const address = addressOf(store, key);
  return shardsOf(store).find(({ options }) => `${options.host}:${options.port}` === address) ?? store;
}
