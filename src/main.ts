import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Config, readConfig } from './config.ts';
import { type EmbeddedRedis, startEmbedded } from './embedded/embedded.ts';
import { findRedisServer } from './embedded/server-binary.ts';
import { openLog } from './log.ts';
import { bootstrap } from './org/bootstrap.ts';
import { awaitStore } from './redis/await-store.ts';
import { StoreUnavailable } from './redis/scripts.ts';
import { type MusterService, startService } from './service.ts';
import { snapshotFolder } from './snapshot/folder.ts';
import { afterLoss } from './snapshot/restore.ts';

/** A shutdown that takes longer is cut short: what was in flight is safe in the store or was never answered. */
const stopMs = 9_500;

/** Ctrl-C on `npm start` comes twice, from the terminal and passed on by npm: what comes together is one signal. */
const onceMs = 500;

/** For a step of a start to end in order; a store that hangs would keep it. */
const stepMs = 1_500;

const prepareAgainMs = 1_000;

/** For people: to stdout. The log, one JSON line per request, goes to stderr. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Aborts at the first SIGTERM, SIGINT or SIGHUP (its terminal is gone); one that comes after it ends the process at once. */
function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  let begun = 0;
  const stop = (): void => {
    if (stopping.signal.aborted) {
      if (performance.now() - begun > onceMs) process.exit(1);
      return;
    }
    begun = performance.now();
    setTimeout(() => process.exit(1), stopMs).unref();
    stopping.abort();
  };
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, stop);
  return stopping.signal;
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
    settings: redisMaxmemory === null ? {} : { maxmemory: redisMaxmemory },
    afterLoss: async (link) => {
      const { organizations, isRestored } = await afterLoss(link, dataDir).catch((error: Error) => {
        throw new Error(
          `the store did not end in order, and its journals cannot go on (${error.message}): ` +
            'it needs room, in memory (REDIS_MAXMEMORY) and on its disk',
        );
      });
      if (organizations === 0) return;
      warn(
        isRestored
          ? 'the store was restored from a snapshot: cursors of its journals from before are expired'
          : 'the store did not end in order: if its last second was lost, cursors that stand there are expired',
      );
    },
  });
}

/** Libraries print what they warn of, for each of their connections: here it is a line of the log, once. */
function warnInto(log: Logger): void {
  const said = new Set<string>();
  console.warn = (text: unknown) => {
    if (said.has(String(text))) return;
    said.add(String(text));
    log.warn(String(text));
  };
}

function start(config: Config, redisUrl: string, signal: AbortSignal): Promise<MusterService> {
  const { role, host, port, metricsPort, logLevel, webhookAllowPrivate } = config;
  const log = openLog(logLevel);
  warnInto(log);
  const snapshots = {
    folder: snapshotFolder(config.dataDir),
    keep: config.snapshotKeep,
    intervalSeconds: config.snapshotIntervalSeconds,
    embedded: config.redisUrl === null,
  };
  const metrics = metricsPort === null ? {} : { metricsPort };
  const waiting = { awaitStore: () => awaitStore(redisUrl, { log: warn, signal }) };
  return startService({ redisUrl, role, host, port, ...metrics, webhookAllowPrivate, log, snapshots, ...waiting });
}

async function prepare(service: MusterService, isEmbedded: boolean): Promise<void> {
  await service.scripts.load();
  if (isEmbedded && service.url !== undefined) for (const line of await bootstrap(service, service.url)) say(line);
}

/** It may take calls again at any time: until then they are answered 503, and so is /readyz. */
async function prepareOrWarn(service: MusterService, isEmbedded: boolean, signal: AbortSignal): Promise<void> {
  try {
    await prepare(service, isEmbedded);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    warn(`the store takes no calls now (${error.message}): they are answered 503 until it does`);
    if (isEmbedded) void prepareLater(service, signal);
  }
}

/** A first start that lost its store on the way makes the organization, the space and the key when it is back. */
async function prepareLater(service: MusterService, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await sleep(prepareAgainMs, undefined, { ref: false });
    try {
      return await prepare(service, true);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

/** Who is to stop does not wait for a store that hangs. */
function unlessHung<T>(step: Promise<T>, signal: AbortSignal): Promise<T> {
  const hung = new Promise<never>((_, reject) => {
    const giveUpSoon = (): unknown => setTimeout(() => reject(signal.reason), stepMs);
    if (signal.aborted) giveUpSoon();
    else signal.addEventListener('abort', giveUpSoon, { once: true });
  });
  return Promise.race([step, hung]);
}

async function main(): Promise<void> {
  const config = readConfig();
  const signal = stopSignal();
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
    // Who is to stop does not wait for a store that has gone.
    if (!signal.aborted) throw error;
  } finally {
    await service?.stop();
    await embedded?.stop();
  }
}

/** Whoever reads what we say may be gone or have a full disk: that ends nothing. */
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

/** Node would print every member of the error: of a failed command its arguments, keys and payloads among them. */
process.on('uncaughtException', (error) => {
  try {
    writeSync(2, `a defect ended the process: ${error instanceof Error ? error.stack : 'not an error'}\n`);
  } finally {
    process.exit(1);
  }
});

main().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  },
);
