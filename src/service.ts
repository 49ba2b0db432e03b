import { setTimeout as sleep } from 'node:timers/promises';
import { Cluster } from 'ioredis';
import type { Logger } from 'pino';
import { Feeds } from './event/feeds.ts';
import { createApp, type Service } from './http/app.ts';
import { Listener } from './http/listener.ts';
import { openapi } from './http/openapi.ts';
import { allErrors, allKeys, allRoutes } from './primitives.ts';
import { sayCluster } from './redis/cluster-notice.ts';
import { connect, type Store } from './redis/connection.ts';
import { Due } from './redis/due.ts';
import type { Overrides } from './redis/loader.ts';
import { Refusal, Scripts } from './redis/scripts.ts';
import { Wake } from './redis/wake.ts';
import type { Resolve } from './webhook/resolve.ts';
import { Targets } from './webhook/target.ts';
import { Deliverer } from './workers/deliverer.ts';
import { Periodic } from './workers/periodic.ts';
import { retainJobs } from './workers/retainer.ts';
import { Retention } from './workers/retention.ts';
import { Snapshotter, type SnapshotterOptions } from './workers/snapshotter.ts';
import { sweepJobs } from './workers/sweeper.ts';

/** Organizations that nobody has, over so many slots that they meet every shard. */
const probes = 16;

/** For workers to end what they hold or give it back; a store that is away would keep them waiting. */
const workerStopMs = 4_500;

export interface ServiceOptions {
  readonly redisUrl: string;
  readonly role: 'api' | 'worker' | 'all';
  readonly host: string;
  readonly port: number;
  readonly log: Logger;
  /** Tests put their clock in the place of lib/clock. */
  readonly overrides?: Overrides;
  /** Webhooks may go to private addresses. */
  readonly webhookAllowPrivate?: boolean;
  /** Tests put their names in the place of DNS. */
  readonly resolve?: Resolve;
  /** Left out: no periodic snapshots. */
  readonly snapshots?: SnapshotterOptions;
}

/** The running product: API, workers or both, on one store. */
export interface MusterService {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly due: Due;
  readonly retention: Retention;
  readonly wake: Wake;
  readonly feeds: Feeds;
  /** undefined where no worker runs. */
  readonly deliverer: Deliverer | undefined;
  /** http://host:port; undefined for a worker. */
  readonly url: string | undefined;
  /** Lets go of held requests, ends running ones, stops workers, closes connections. */
  stop(): Promise<void>;
}

/** Starts the parts that the role names; resolves when they serve. */
export async function startService(options: ServiceOptions): Promise<MusterService> {
  const connections: Store[] = [];
  const open = async (kind: 'calls' | 'patient'): Promise<Store> => {
    const connection = await connect(options.redisUrl, kind);
    connections.push(connection);
    return connection;
  };
  const disconnect = (): void => {
    for (const connection of connections) connection.disconnect();
  };
  const store = await open('calls');
  if (store instanceof Cluster) await sayCluster(store, options.log);
  const scripts = new Scripts(store, allKeys, options.overrides);
  const due = new Due(store, scripts);
  const retention = new Retention(store, scripts);
  const wake = new Wake(await open('patient'));
  const feeds = new Feeds(scripts, wake);
  const targets = new Targets(options.webhookAllowPrivate ?? false, options.resolve);
  const parts = { store, scripts, due, wake, feeds, targets, log: options.log };
  const workers: { stop(): Promise<void> }[] = [];
  const stopWorkers = async (): Promise<void> => {
    await Promise.race([Promise.allSettled(workers.map((worker) => worker.stop())), sleep(workerStopMs)]);
  };
  let listener: Listener | undefined;
  let deliverer: Deliverer | undefined;
  const stop = async (): Promise<void> => {
    wake.close();
    await Promise.all([listener?.drain(), stopWorkers()]);
    disconnect();
  };
  try {
    // First what may be refused: a port that is in use.
    if (options.role !== 'worker') listener = await listen(options, parts);
    if (options.role !== 'api') {
      workers.push(await Periodic.start(store, await open('patient'), 'sweep', sweepJobs(due), options.log));
      workers.push(await Periodic.start(store, await open('patient'), 'retain', retainJobs(retention), options.log));
      deliverer = new Deliverer(await open('patient'), parts);
      workers.push(deliverer);
      const { snapshots } = options;
      if (snapshots && !(store instanceof Cluster))
        workers.push(await Snapshotter.start(await open('patient'), store, snapshots, options.log));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    store,
    scripts,
    due,
    retention,
    wake,
    feeds,
    deliverer,
    url: listener?.url,
    stop,
  };
}

type Parts = Pick<Service, 'store' | 'scripts' | 'due' | 'wake' | 'feeds' | 'targets' | 'log'>;

async function listen(options: ServiceOptions, parts: Parts): Promise<Listener> {
  const server = createApp({
    ...parts,
    routes: allRoutes,
    errors: allErrors,
    openapi: JSON.stringify(openapi(allRoutes, allErrors)),
    ready: () => takesCalls(parts.store, parts.scripts),
  });
  return Listener.start(server, options.host, options.port);
}

/**
 * Whether any shard does: a process that serves some organizations of a cluster is not to be taken out of service. A
 * script that finds nothing is refused all the same by a store that is read-only or full, or cannot load scripts.
 */
async function takesCalls(store: Store, scripts: Scripts): Promise<boolean> {
  const names = store instanceof Cluster ? Array.from({ length: probes }, (_, n) => `-${n}`) : ['-'];
  const refused = names.map((name) =>
    scripts.run('org/show', name, {}).catch((error) => {
      if (!(error instanceof Refusal)) throw error;
    }),
  );
  return Promise.any(refused).then(
    () => true,
    () => false,
  );
}
