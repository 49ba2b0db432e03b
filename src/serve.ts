import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type EmbeddedRedis, startEmbedded } from './embedded/embedded.ts';
import { findRedisServer } from './embedded/server-binary.ts';
import { openLog } from './log.ts';
import { bootstrap } from './org/bootstrap.ts';
import { awaitStore } from './redis/await-store.ts';
import { StoreUnavailable } from './redis/scripts.ts';
import { type MusterService, startService } from './service.ts';
import { snapshotFolder } from './snapshot/folder.ts';
import { afterLoss } from './snapshot/restore.ts';
import type { Tracing } from './tracing/tracing.ts';

/** How long a start-up step may take to finish at shutdown; a hung store would block it. */
const stepMs = 1_500;

const prepareRetryMs = 1_000;

/** Prints for people, to stdout. The log, one JSON line per request, goes to stderr. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}

async function openEmbedded(config: Config, signal: AbortSignal): Promise<EmbeddedRedis> {
  const { dataDir, redisServer, redisMaxmemory } = config;
  const env = { ...process.env, ...(redisServer !== null && { REDIS_SERVER: redisServer }) };
  const program = await findRedisServer({ log: warn, env });
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

/** Sends libraries' warnings to the log, each only once; they print them for every connection. */
function redirectWarnings(log: Logger): void {
  const logged = new Set<string>();
  console.warn = (text: unknown) => {
    if (logged.has(String(text))) return;
    logged.add(String(text));
    log.warn(String(text));
  };
}

async function start(config: Config, redisUrl: string, signal: AbortSignal): Promise<MusterService> {
  const { role, host, port, publicUrl, metricsPort, logLevel, webhookAllowPrivate, sealAfterSeconds } = config;
  const log = openLog(logLevel);
  redirectWarnings(log);
  const snapshots = {
    folder: snapshotFolder(config.dataDir),
    keep: config.snapshotKeep,
    intervalSeconds: config.snapshotIntervalSeconds,
    embedded: config.redisUrl === null,
  };
  const metrics = metricsPort === null ? {} : { metricsPort };
  const waiting = { awaitStore: () => awaitStore(redisUrl, { log: warn, signal }) };
  const settings = { webhookAllowPrivate, sealAfterSeconds, packsMessages: true };
  const outside = {
    ...(publicUrl !== null && { publicUrl }),
    ...(config.traceUrl !== null && { traceUrl: config.traceUrl }),
  };
  const tracing = config.otelExporterOtlpEndpoint === null ? undefined : await loadTracing(log);
  return startService({
    ...{ redisUrl, role, host, port, log, snapshots, tracing },
    ...{ ...outside, ...metrics, ...settings, ...waiting },
  });
}

/** Nobody else waits for the SDK. */
async function loadTracing(log: Logger): Promise<Tracing> {
  const { openTracing } = await import('./tracing/otlp.ts');
  return openTracing(log);
}

async function prepare(service: MusterService, isEmbedded: boolean): Promise<void> {
  await service.scripts.load();
  if (isEmbedded && service.url !== undefined) for (const line of await bootstrap(service, service.url)) say(line);
}

/** Continues without a store that takes no calls: it may be back any time, and requests get a 503 until then. */
async function prepareOrWarn(service: MusterService, isEmbedded: boolean, signal: AbortSignal): Promise<void> {
  try {
    await prepare(service, isEmbedded);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    warn(`the store takes no calls (${error.message}): requests get a 503 until it does`);
    if (isEmbedded) void prepareLater(service, signal);
  }
}

/** If a first start has lost its store, creates the organization, the space and the key once it is back. */
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

/** Runs the service with these settings, and with its embedded Redis where no other is named, until the signal aborts. */
export async function serve(config: Config, signal: AbortSignal): Promise<void> {
  let embedded: EmbeddedRedis | undefined;
  let service: MusterService | undefined;
  try {
    if (config.redisUrl === null) embedded = await openEmbedded(config, signal);
    else await awaitStore(config.redisUrl, { log: warn, signal });
    if (signal.aborted) return;
    service = await unlessHung(start(config, config.redisUrl ?? embedded?.socketPath ?? '', signal), signal);
    await unlessHung(prepareOrWarn(service, embedded !== undefined, signal), signal);
    if (config.metricsPort !== null) say(`metrics on ${service.metricsUrl}/metrics`);
    say(service.url === undefined ? 'worker ready' : `listening on ${service.url}`);
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  } catch (error) {
    // Stopping, so a failed start no longer matters.
    if (!signal.aborted) throw error;
  } finally {
    await service?.stop();
    await embedded?.stop();
  }
}
