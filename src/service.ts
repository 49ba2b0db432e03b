import type { Logger } from 'pino';
import { batchGateway } from './doors/batch/gateway.ts';
import { createApp } from './doors/http/app.ts';
import { Listener } from './doors/http/listener.ts';
import type { HttpService } from './doors/http/service.ts';
import { mcpGateway } from './doors/mcp/gateway.ts';
import { type Oidc, type OidcOptions, openOidc } from './doors/oidc/oidc.ts';
import { execute } from './engine/call/executor.ts';
import type { Answered } from './engine/declare/field.ts';
import type { Overrides } from './engine/library/loader.ts';
import { Metrics } from './engine/metrics/metrics.ts';
import { StoreReader } from './engine/metrics/store-reading.ts';
import { openapiText } from './engine/openapi/openapi.ts';
import { probeNames, takesSnapshots, warnOfShards } from './engine/redis/cluster.ts';
import { connect, type Store } from './engine/redis/connection.ts';
import { Due } from './engine/redis/due.ts';
import { checkDurability } from './engine/redis/durability.ts';
import { checkFormat } from './engine/redis/format.ts';
import { logLosses } from './engine/redis/losses.ts';
import { Scripts, StoreUnavailable } from './engine/redis/scripts.ts';
import { Wake } from './engine/redis/wake.ts';
import { GivingBack } from './engine/route/giving-back.ts';
import { OpenRequests } from './engine/route/open-requests.ts';
import { SnapshotWatch } from './jobs/snapshot/health.ts';
import type { Tracing } from './jobs/tracing/tracing.ts';
import type { Deliverer } from './jobs/workers/deliverer.ts';
import { Packing } from './jobs/workers/packing.ts';
import { Retention } from './jobs/workers/retention.ts';
import { type SnapshotterOptions, Workers } from './jobs/workers/workers.ts';
import { readWorkers } from './jobs/workers/workers-state.ts';
import { AnswerPages } from './pages/answer/site.ts';
import { signInPage } from './pages/console/sign-in.ts';
import { consoleSite } from './pages/console/site.ts';
import { docsSite, referenceSite } from './pages/docs/site.ts';
import { bulkStep, bulkWork } from './primitives/bulk/work.ts';
import { Feeds } from './primitives/event/feeds.ts';
import { Journal } from './primitives/event/journal.ts';
import { Segments } from './primitives/event/segments.ts';
import { PackedMessages } from './primitives/mailbox/packed.ts';
import { product as defaultProduct } from './primitives/primitives.ts';
import type { Limits, Product } from './primitives/room.ts';
import { Firing } from './primitives/schedule/firing.ts';
import { channelOf } from './primitives/space/keys.ts';
import type { Resolve } from './primitives/webhook/resolve.ts';
import { Targets } from './primitives/webhook/target.ts';

/** The maximum age of a scrape, and of the store's figures in it. */
const scrapeMaxAgeMs = 1_000;
const metricsMaxAgeMs = 5_000;

/** For an organization that does not exist. */
const probe = { script: 'org/probe', reply: {} };

/** Attempts to open a connection. */
const maxAttempts = 3;

export interface ServiceOptions {
  readonly redisUrl: string;
  readonly role: 'api' | 'worker' | 'all';
  readonly host: string;
  readonly port: number;
  /** Where callers reach the API, if not where it listens; without a trailing slash. */
  readonly publicUrl?: string;
  /** The origins whose web pages may call, besides the server's own. */
  readonly corsOrigins?: readonly string[];
  /** Accepts tokens of an OpenID provider; requires `publicUrl`. */
  readonly oidc?: OidcOptions;
  /** Makes spans; by default none. */
  readonly tracing?: Tracing | undefined;
  /** Where a trace can be viewed, with `{traceId}` in it. */
  readonly traceUrl?: string;
  /** A separate port for GET /metrics, /healthz and /readyz; by default the API's port, or none for a worker. */
  readonly metricsPort?: number;
  readonly metricsMaxAgeMs?: number;
  readonly log: Logger;
  /** The rooms to serve; by default those of primitives.ts. */
  readonly product?: Product;
  /** Tests replace lib/clock with their own. */
  readonly overrides?: Overrides;
  /** Starts even on a store that evicts keys. */
  readonly allowEviction?: boolean;
  /** Allows webhooks to private addresses. */
  readonly webhookAllowPrivate?: boolean;
  /** Tests replace DNS with their own. */
  readonly resolve?: Resolve;
  /** The age from which events are packed; by default 0, which packs none. */
  readonly sealAfterSeconds?: number;
  /** Packs finished messages as well. */
  readonly packsMessages?: boolean;
  /** Periodic snapshots; by default none. */
  readonly snapshots?: SnapshotterOptions;
  /** Waits for a store that dropped a connection during the start. Without it, the start fails. */
  readonly awaitStore?: () => Promise<void>;
}

/** The running product: API, workers or both, on one store. */
export interface MusterService {
  readonly store: Store;
  readonly scripts: Scripts;
  readonly limits: Limits;
  readonly due: Due;
  readonly schedules: Firing;
  readonly retention: Retention;
  readonly packing: Packing;
  readonly journal: Journal;
  readonly wake: Wake;
  readonly openRequests: OpenRequests;
  readonly feeds: Feeds;
  /** Undefined without workers. */
  readonly deliverer: Deliverer | undefined;
  /** http://host:port; undefined for a worker. */
  readonly url: string | undefined;
  /** http://host:port of GET /metrics; undefined for a worker without a metrics port. */
  readonly metricsUrl: string | undefined;
  /** Releases held requests, finishes running ones, stops workers, closes connections. */
  stop(): Promise<void>;
}

/** Starts the parts of the role. Resolves when it is serving. */
export async function startService(options: ServiceOptions): Promise<MusterService> {
  const connections: Store[] = [];
  const open = async (kind: 'calls' | 'patient'): Promise<Store> => {
    const connection = await opened(options, kind);
    connections.push(connection);
    return connection;
  };
  const store = await open('calls');
  await warnOfShards(store, options.log);
  logLosses(store, options.log);
  const { product = defaultProduct } = options;
  const scripts = new Scripts(store, product.words, options.overrides);
  const due = new Due(store, scripts);
  const schedules = new Firing(scripts, due, options.tracing?.begin);
  const journal = new Journal(scripts, new Segments(store), options.log);
  const opener = new PackedMessages(journal.segments, options.log);
  const sealAfterSeconds = options.sealAfterSeconds ?? 0;
  const packing = new Packing(
    { store, scripts, journal, log: options.log },
    { sealAfterSeconds, packsMessages: options.packsMessages ?? false },
  );
  const retention = new Retention(store, scripts, journal, opener);
  const wake = new Wake(await open('patient'), store);
  const openRequests = new OpenRequests();
  const executor = { scripts, due, opener, log: options.log };
  const givingBack = new GivingBack(
    (script, org, args) => execute(executor, { caller: { org } }, script, args, () => undefined),
    options.log,
  );
  due.does(
    'bulk',
    bulkWork(async (org, args) => {
      const call = { caller: { org } };
      const { reply } = await execute(executor, call, bulkStep.script, args, scripts.reader(bulkStep));
      return (reply as Answered<typeof bulkStep.reply>).goesOn;
    }),
  );
  const feeds = new Feeds(scripts, wake, journal);
  const targets = new Targets(options.webhookAllowPrivate ?? false, options.resolve);
  const unready = () => whyUnready(store, scripts);
  const ready = async () => (await unready()) === undefined;
  const events = product.events.flatMap(({ type, isCounted }) => (isCounted ? [type] : []));
  const { snapshots } = options;
  const isWorker = options.role !== 'api';
  const watch = snapshots && isWorker && takesSnapshots(store) ? new SnapshotWatch(snapshots) : undefined;
  const reader = new StoreReader(
    {
      store,
      scripts,
      ready,
      events,
      packedAfterSeconds: packing.latestSeconds,
      workers: () => readWorkers(store),
      snapshots: watch && (() => watch.read()),
    },
    options.metricsMaxAgeMs ?? metricsMaxAgeMs,
  );
  const held = { receives: () => wake.size - wake.reads, reads: () => wake.reads, watches: () => feeds.size };
  const metrics = new Metrics({
    role: options.role,
    reader,
    isPrivate: options.metricsPort !== undefined,
    maxAgeMs: Math.min(scrapeMaxAgeMs, options.metricsMaxAgeMs ?? scrapeMaxAgeMs),
    held,
    // A worker refuses nobody.
    refusals: options.role === 'worker' ? [] : Object.keys(product.errors),
  });
  scripts.observer = metrics.traffic;
  if (options.tracing) scripts.around = options.tracing.script;
  const parts = { feeds, targets, schedules, journal, wake };
  const core = {
    store,
    scripts,
    due,
    retention,
    packing,
    journal,
    opener,
    wake,
    openRequests,
    givingBack,
    channel: channelOf,
    parts,
    log: options.log,
    unready,
    metrics,
    publicUrl: options.publicUrl,
    corsOrigins: new Set(options.corsOrigins),
  };
  const workers = new Workers();
  let listener: Listener | undefined;
  let metricsListener: Listener | undefined;
  const stop = async (): Promise<void> => {
    wake.close();
    await Promise.all([listener?.drain(), metricsListener?.drain(), workers.stop()]);
    await givingBack.settled();
    await due.flush();
    for (const connection of connections) connection.disconnect();
    await options.tracing?.stop();
  };
  try {
    await checkFormat(store);
    await checkDurability(store, options.allowEviction ?? false, options.log);
    // Listen first, as the port may be in use.
    const { metricsPort } = options;
    if (options.role !== 'worker')
      listener = await listen(options, {
        ...core,
        oidc: oidcOf(options),
        routes: product.routes,
        spacelessRoutes: product.spacelessRoutes,
        gateways: [batchGateway, mcpGateway],
        aroundRequest: options.tracing?.request,
        aroundMessage: options.tracing?.message,
        showsMetrics: metricsPort === undefined,
      });
    if (metricsPort !== undefined)
      metricsListener = await listen(
        { ...options, port: metricsPort },
        { ...core, routes: [], spacelessRoutes: [], gateways: [], showsMetrics: true },
        'METRICS_PORT',
      );
    if (isWorker) await workers.start({ ...core, targets }, () => open('patient'), snapshots, watch);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    store,
    scripts,
    limits: product.limits,
    due,
    schedules,
    retention,
    packing,
    journal,
    wake,
    openRequests,
    feeds,
    deliverer: workers.deliverer,
    url: listener?.url,
    metricsUrl: metricsListener?.url ?? listener?.url,
    stop,
  };
}

function oidcOf({ oidc, publicUrl, log }: ServiceOptions): Oidc | undefined {
  if (!oidc) return undefined;
  if (publicUrl === undefined) throw new Error('publicUrl is missing: tokens are made for it');
  return openOidc(oidc, publicUrl, signInPage, log);
}

/** Opens a connection, and retries a dropped one a few times. */
async function opened({ redisUrl, awaitStore }: ServiceOptions, kind: 'calls' | 'patient'): Promise<Store> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(redisUrl, kind);
    } catch (error) {
      if (!awaitStore || attempt === maxAttempts) throw error;
      await awaitStore();
    }
  }
}

interface Core extends Omit<HttpService, 'errors' | 'tags' | 'glossary' | 'openapi' | 'sites' | 'identify'> {
  readonly oidc?: Oidc | undefined;
}

async function listen(options: ServiceOptions, core: Core, setting = 'PORT'): Promise<Listener> {
  const { host, port, product = defaultProduct } = options;
  const { errors, tags, glossary } = product;
  const { routes, spacelessRoutes, oidc } = core;
  let text: Promise<string> | undefined;
  const openapi = () => {
    text ??= openapiText({ ...product, routes, spacelessRoutes });
    return text;
  };
  const server = createApp({
    ...core,
    errors,
    tags,
    glossary,
    openapi,
    identify: oidc?.identify,
    sites: [
      consoleSite({ hasAccounts: oidc?.hasAccounts ?? false, traceUrl: options.traceUrl ?? '' }),
      docsSite(),
      referenceSite(),
      new AnswerPages({ ...core, errors }),
      ...(oidc?.sites ?? []),
    ],
  });
  return Listener.start(server, host, port, setting);
}

/**
 * Why no shard accepts calls; undefined if one does: a process that can serve some organizations of a cluster must stay in service. The probe
 * does nothing, but it fails on a store that is read-only, full or unable to load scripts.
 */
async function whyUnready(store: Store, scripts: Scripts): Promise<StoreUnavailable | undefined> {
  const probes = probeNames(store).map((name) => scripts.find(probe, name, {}));
  return Promise.any(probes).then(
    () => undefined,
    ({ errors: [first] }: AggregateError) =>
      first instanceof StoreUnavailable ? first : new StoreUnavailable(String(first)),
  );
}
