import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { OidcOptions } from './doors/oidc/oidc.ts';
import { awaitStore } from './embedded/await-store.ts';
import { type EmbeddedRedis, startEmbedded } from './embedded/embedded.ts';
import { findRedisServer } from './embedded/server-binary.ts';
import { connect } from './engine/redis/connection.ts';
import { inShort } from './engine/redis/failures.ts';
import { StoreUnavailable } from './engine/redis/scripts.ts';
import { createSnapshot } from './jobs/snapshot/create.ts';
import { listSnapshots, snapshotFolder } from './jobs/snapshot/folder.ts';
import { afterLoss } from './jobs/snapshot/restore.ts';
import type { Tracing } from './jobs/tracing/tracing.ts';
import type { SnapshotterOptions } from './jobs/workers/workers.ts';
import { openLog } from './log.ts';
import { bootstrap } from './primitives/org/bootstrap.ts';
import { type MusterService, startService } from './service.ts';

/** How long shutdown waits for a start-up step; a hung store would otherwise block it. */
const stepMs = 1_500;

const prepareRetryMs = 1_000;

/** How long the last snapshot may take, and how recent another one must be to make it unnecessary. */
const lastSnapshotMs = 2_500;
const newMs = 60_000;

/** Prints for people, to stdout. The log goes to stderr, as lines of JSON. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function openEmbedded(config: Config, log: Logger, signal: AbortSignal): Promise<EmbeddedRedis> {
  const { dataDir, redisServer, redisMaxmemory } = config;
  const warn = (line: string): void => log.warn(line);
  const env = { ...process.env, ...(redisServer !== null && { REDIS_SERVER: redisServer }) };
  const program = await findRedisServer({ log: say, env });
  return startEmbedded({
    dataDir,
    log: warn,
    program,
    signal,
    outlivesProcess: true,
    settings: redisMaxmemory === null ? {} : { maxmemory: redisMaxmemory },
    afterLoss: async (link) => {
      const { organizations, isRestored } = await afterLoss(link, dataDir).catch((error: Error) => {
        throw new Error(
          `the store was not shut down cleanly, and its journals cannot go on (${error.message}): ` +
            'it needs free memory (REDIS_MAXMEMORY) and disk space',
        );
      });
      if (organizations === 0) return;
      warn(
        isRestored
          ? 'the store was restored from a snapshot: journal cursors from before are expired'
          : 'the store was not shut down cleanly: if its last second was lost, journal cursors that stand there are expired',
      );
    },
  });
}

/** Sends each warning of a library to the log once; libraries print them for every connection. */
function redirectWarnings(log: Logger): void {
  const logged = new Set<string>();
  console.warn = (text: unknown) => {
    if (logged.has(String(text))) return;
    logged.add(String(text));
    log.warn(String(text));
  };
}

function snapshotsOf(config: Config): SnapshotterOptions | undefined {
  if (config.snapshotIntervalSeconds === 0) return undefined;
  return {
    folder: snapshotFolder(config.dataDir),
    keep: config.snapshotKeep,
    intervalSeconds: config.snapshotIntervalSeconds,
    embedded: config.redisUrl === null,
  };
}

/** Makes a snapshot of an embedded store that is about to stop, unless there is a recent one or it takes too long. */
async function lastSnapshot(socketPath: string, config: Config, log: Logger): Promise<void> {
  const options = snapshotsOf(config);
  if (!options) return;
  const [newest] = await listSnapshots(options.folder);
  if (newest && Date.now() - Date.parse(newest.createdAt) < newMs) return;
  try {
    const store = await connect(socketPath);
    try {
      const { snapshot, bytes } = await createSnapshot(store, {
        ...options,
        signal: AbortSignal.timeout(lastSnapshotMs),
      });
      log.info({ snapshot, bytes }, 'snapshot made');
    } finally {
      store.disconnect();
    }
  } catch (error) {
    log.warn(`no snapshot at the end: ${inShort(error)}`);
  }
}

interface Start {
  readonly redisUrl: string;
  readonly log: Logger;
  /** Waits for the store, and logs that. */
  readonly awaitStore: () => Promise<void>;
}

async function start(config: Config, { log, ...store }: Start): Promise<MusterService> {
  const { role, host, port, publicUrl, metricsPort, webhookAllowPrivate, sealAfterSeconds, allowEviction } = config;
  redirectWarnings(log);
  const snapshots = snapshotsOf(config);
  const metrics = metricsPort === null ? {} : { metricsPort };
  const settings = { webhookAllowPrivate, sealAfterSeconds, allowEviction, packsMessages: true };
  const outside = {
    ...(publicUrl !== null && { publicUrl }),
    ...(config.corsOrigins !== null && { corsOrigins: config.corsOrigins }),
    ...(config.traceUrl !== null && { traceUrl: config.traceUrl }),
  };
  const oidc = oidcOf(config);
  const tracing = config.otelExporterOtlpEndpoint === null ? undefined : await loadTracing(log);
  return startService({
    ...{ ...store, role, host, port, log, tracing },
    ...(snapshots && { snapshots }),
    ...{ ...outside, ...(oidc && { oidc }), ...metrics, ...settings },
  });
}

function oidcOf(config: Config): OidcOptions | undefined {
  const {
    oidcIssuer: issuer,
    oidcAudience: audience,
    oidcClaim: claim,
    oidcClientId: clientId,
    oidcScope: scope,
  } = config;
  return issuer === null || audience === null ? undefined : { issuer, audience, claim, clientId, scope };
}

/** Load the SDK only here, so that nobody else waits for it. */
async function loadTracing(log: Logger): Promise<Tracing> {
  const { openTracing } = await import('./jobs/tracing/otlp.ts');
  return openTracing(log);
}

async function prepare(service: MusterService, isEmbedded: boolean): Promise<void> {
  await service.scripts.load();
  if (isEmbedded && service.url !== undefined) for (const line of await bootstrap(service, service.url)) say(line);
}

/** Continues even if the store accepts no calls: it may be back at any time, and requests get a 503 until then. */
async function prepareOrWarn(
  service: MusterService,
  log: Logger,
  { isEmbedded, signal }: { isEmbedded: boolean; signal: AbortSignal },
): Promise<void> {
  try {
    await prepare(service, isEmbedded);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    log.warn(`the store takes no calls (${error.message}): requests get a 503 until it does`);
    if (isEmbedded) void prepareLater(service, signal);
  }
}

/** If the store was lost during a first start, creates the organization, the space and the key once it is back. */
async function prepareLater(service: MusterService, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(prepareRetryMs, undefined, { ref: false });
    try {
      return await prepare(service, true);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

/** Don't let a hung store block shutdown. */
function unlessHung<T>(step: Promise<T>, signal: AbortSignal): Promise<T> {
  const hung = new Promise<never>((_, reject) => {
    const giveUpSoon = (): unknown => setTimeout(() => reject(signal.reason), stepMs);
    if (signal.aborted) giveUpSoon();
    else signal.addEventListener('abort', giveUpSoon, { once: true });
  });
  return Promise.race([step, hung]);
}

/** Runs the service with these settings until the signal aborts, with the embedded Redis unless another is named. */
export async function serve(config: Config, signal: AbortSignal): Promise<void> {
  const log = openLog(config.logLevel);
  let embedded: EmbeddedRedis | undefined;
  let service: MusterService | undefined;
  try {
    if (config.redisUrl === null) embedded = await openEmbedded(config, log, signal);
    const redisUrl = config.redisUrl ?? embedded?.socketPath ?? '';
    const wait = () => awaitStore(redisUrl, { log: (line) => log.warn(line), signal });
    if (!embedded) await wait();
    if (signal.aborted) return;
    service = await unlessHung(start(config, { redisUrl, log, awaitStore: wait }), signal);
    await unlessHung(prepareOrWarn(service, log, { isEmbedded: embedded !== undefined, signal }), signal);
    if (config.metricsPort !== null) say(`metrics on ${service.metricsUrl}/metrics`);
    say(service.url === undefined ? 'worker ready' : `listening on ${service.url}`);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  } catch (error) {
    // The service is stopping, so a failed start no longer matters.
    if (!signal.aborted) throw error;
  } finally {
    await service?.stop();
    if (service && embedded && config.role !== 'api') await lastSnapshot(embedded.socketPath, config, log);
    await embedded?.stop();
  }
}
