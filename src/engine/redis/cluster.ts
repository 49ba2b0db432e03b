import { Cluster, type ClusterOptions, Command, type Redis, type RedisOptions } from 'ioredis';
import type { Logger } from 'pino';

/** A client of one server or of a cluster. Both send a command to the server that has its first key. */
export type Store = Redis | Cluster;

/** Calls to a node fail if connecting or replying takes longer. */
const connectMs = 1_000;
export const silenceMs = 3_000;
/** How often to look for moved slots that no call has run into. */
const refreshMs = 2_000;
/** Minimum time between two refreshes of the slot map by a patient client. */
const minRefreshMs = 200;
const fullCoverage = 'cluster-require-full-coverage';

/**
 * Calls rejected by the cluster itself (MOVED, ASK, TRYAGAIN) have not run, so they are retried for about a second. All other
 * failures go to the caller, and a shard that is down must not delay calls to the others.
 */
const callOptions = {
  retryDelayOnFailover: 0,
  retryDelayOnClusterDown: 0,
  retryDelayOnTryAgain: 100,
  maxRedirections: 24,
};

/** Fails calls immediately while no node is known; each node's client queues them while it connects. */
class CallsCluster extends Cluster {
  override sendCommand(...[command, stream, node]: Parameters<Cluster['sendCommand']>): unknown {
    if (this.status === 'ready') return super.sendCommand(command, stream, node);
    command.reject(new Error('Connection is closed.'));
    return command.promise;
  }
}

type Refreshed = NonNullable<Parameters<Cluster['refreshSlotsCache']>[0]>;

/** Throttles refreshes: ioredis asks for hundreds per second while a shard with a subscription is down. */
class PatientCluster extends Cluster {
  /** ioredis subscribes to no slot at all if any slot lacks its list of nodes. */
  override slots: Cluster['slots'] = Array.from({ length: 16_384 }, () => []);
  #refreshedAt = Number.NEGATIVE_INFINITY;
  #next: NodeJS.Timeout | undefined;
  readonly #waiting: Refreshed[] = [];

  override refreshSlotsCache(refreshed?: Refreshed): void {
    if (refreshed) this.#waiting.push(refreshed);
    this.#next ??= setTimeout(() => this.#refresh(), Math.max(0, this.#refreshedAt + minRefreshMs - performance.now()));
  }

  #refresh(): void {
    const all = this.#waiting.splice(0);
    this.#next = undefined;
    this.#refreshedAt = performance.now();
    super.refreshSlotsCache((error) => {
      for (const refreshed of all) refreshed(error);
    });
  }
}

/** Whether a server is a cluster node; rejects when clients cannot discover the other nodes through it. */
export async function isClusterNode(redis: Redis): Promise<boolean> {
  if (!String(await redis.info('cluster')).includes('cluster_enabled:1')) return false;
  if ((await redis.cluster('SLOTS')).some(([, , node]) => node?.[0] === ''))
    throw new Error('a node of the cluster does not know its address: set its cluster-announce-ip');
  return true;
}

/** An unconnected client that discovers the cluster through any of the given nodes and uses one login for all. */
export function clusterClient(
  kind: 'calls' | 'patient',
  addresses: readonly string[],
  { username, password, tls }: RedisOptions,
  { protocol, keepAlive, retryStrategy }: Required<Pick<RedisOptions, 'protocol' | 'keepAlive' | 'retryStrategy'>>,
): Cluster {
  const seeds = addresses.map((address) => {
    if (address.startsWith('/')) throw new Error('cluster nodes need host and port, not a socket');
    const { hostname, port } = new URL(address);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  });
  const login = { ...(username && { username }), ...(password && { password }), ...(tls && { tls }) };
  const redisOptions = { protocol, connectTimeout: connectMs, keepAlive, maxRetriesPerRequest: null, ...login };
  const options: ClusterOptions = {
    // Each call finds out for itself whether its slot is served, so calls to other shards continue.
    enableReadyCheck: false,
    clusterRetryStrategy: retryStrategy,
    // Keep the host names that nodes announce, as TLS certificates are issued for names, not addresses.
    dnsLookup: (address, callback) => callback(null, address),
    lazyConnect: true,
  };
  // A loading node must reject calls: a call that waited for it would run after its caller has gone.
  const bounded = { ...redisOptions, socketTimeout: silenceMs, enableReadyCheck: false };
  const cluster =
    kind === 'calls'
      ? new CallsCluster(seeds, { ...options, ...callOptions, redisOptions: bounded })
      : new PatientCluster(seeds, { ...options, redisOptions, shardedSubscribers: true });
  cluster.on('error', () => undefined);
  cluster.once('connect', () => {
    // ioredis's own refresh timer keeps the process alive when the client is closed during a refresh.
    const timer = setInterval(() => cluster.refreshSlotsCache(), refreshMs).unref();
    cluster.once('end', () => clearInterval(timer));
  });
  return cluster;
}

const isCluster = (store: Store): store is Cluster => store instanceof Cluster;

/** Whether one shard can be unavailable while others answer. */
export const canFailPartially: (store: Store) => boolean = isCluster;

/** Whether the store can write all its data to one file. */
export function takesSnapshots(store: Store): store is Redis {
  return !isCluster(store);
}

/** The servers that hold the data: masters only. */
export function shardsOf(store: Store): readonly Redis[] {
  return isCluster(store) ? store.nodes('master') : [store];
}

/** `host:port` of the shard that has a key; '' if it is unknown or there is only one. */
export function addressOf(store: Store, key: string): string {
  return (isCluster(store) && store.slots[new Command('exists', [key]).getSlot()]?.[0]) || '';
}

/** The shard that has a key, for commands without keys. If it is unknown, the client picks one. */
export function serverOf(store: Store, key: string): Store {
  const address = addressOf(store, key);
  return shardsOf(store).find(({ options }) => `${options.host}:${options.port}` === address) ?? store;
}

/** The store's clock, which decides all times, in epoch milliseconds. */
export async function nowOf(store: Store): Promise<number> {
  const [seconds, micros] = await store.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

/** Names that no organization can have, spread over enough slots to reach every shard. */
export function probeNames(store: Store): string[] {
  return isCluster(store) ? Array.from({ length: 16 }, (_, n) => `-${n}`) : ['-'];
}

/**
 * Lua at the start of every function. While an organization's slot migrates, its keys are on two nodes, so a script would
 * miss some on either, or fail half-way. EXISTS on two keys that never exist detects this before anything is written;
 * TRYAGAIN makes the client retry the call.
 */
export function functionGuard(store: Store): string {
  if (!isCluster(store)) return '';
  return (
    "if type(redis.pcall('EXISTS', keys[1] .. ':-', keys[1] .. ':=')) == 'table' then " +
    "return redis.error_reply('TRYAGAIN the slot is moving') end"
  );
}

/**
 * Warns at start about features that several shards don't support, and about a setting that makes all shards fail together.
 */
export async function warnOfShards(store: Store, log: Logger): Promise<void> {
  if (!isCluster(store)) return;
  const shards = shardsOf(store);
  log.warn(
    `the store is a Redis Cluster of ${shards.length} shards: Muster makes no snapshots of it, back up its nodes instead`,
  );
  // This user may not be allowed to read settings.
  const settings = await Promise.allSettled(shards.map((shard) => shard.config('GET', fullCoverage)));
  const isStrict = settings.some((found) => found.status === 'fulfilled' && String(found.value).endsWith(',yes'));
  if (isStrict) log.warn(`${fullCoverage} is yes: all shards stop when one is down; set it to no on every node`);
}
