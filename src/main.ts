import { once } from 'node:events';
import pino from 'pino';
import { type Config, readConfig } from './config.ts';
import { bootstrap } from './org/bootstrap.ts';
import { type EmbeddedRedis, startEmbedded } from './redis/embedded.ts';
import { findRedisServer } from './redis/server-binary.ts';
import { type MusterService, startService } from './service.ts';

/** A shutdown that takes longer is cut short: what was in flight is safe in the store or was never answered. */
const drainMs = 9_000;

/** For people: to stdout. The log, one JSON line per request, goes to stderr. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function openStore(config: Config): Promise<EmbeddedRedis | undefined> {
  if (config.redisUrl !== null) return undefined;
  const log = (line: string): void => {
    process.stderr.write(`${line}\n`);
  };
  const program = await findRedisServer({ log, env: { ...process.env, ...(config.redisServer !== null && { REDIS_SERVER: config.redisServer }) } });
  return startEmbedded({ dataDir: config.dataDir, log, program });
}

async function main(): Promise<void> {
  const config = readConfig();
  const log = pino({ level: config.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ fd: 2, sync: false }));
  const stopped = Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
  const embedded = await openStore(config);
  let service: MusterService | undefined;
  try {
    service = await startService({
      redisUrl: config.redisUrl ?? embedded?.socketPath ?? '',
      role: config.role,
      host: config.host,
      port: config.port,
      log,
    });
    if (embedded) for (const line of await bootstrap(service, service.url ?? '')) say(line);
    say(service.url === undefined ? 'worker ready' : `listening on ${service.url}`);
    await stopped;
  } finally {
    setTimeout(() => process.exit(1), drainMs).unref();
    await service?.stop();
    await embedded?.stop();
  }
}

main().then(
  () => process.exit(0),
  (error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  },
);
