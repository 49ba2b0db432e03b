// `muster test-server`: a server for one test run, started and owned by the clients' `testServer`. Once it listens, it
// prints a JSON line with `url`, `key` and `spaceId`. It answers each input line with a JSON line that has a new
// `spaceId`. It ends at SIGTERM, and when its input ends, so it never outlives the tests.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { startEmbedded } from '../embedded/embedded.ts';
import { findRedisServer } from '../embedded/server-binary.ts';
import { permissions } from '../engine/route/caller.ts';
import { openLog } from '../log.ts';
import { createKey, createOrganization, createSpace } from '../primitives/org/admin.ts';
import { limitsAt } from '../primitives/space/limits.ts';
import { startService } from '../service.ts';

const org = 'test';

function warn(line: string): void {
  process.stderr.write(`${line}\n`);
}

function print(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

const stopping = new AbortController();

/** Serves until the input ends, or SIGTERM. */
async function serveTests(dataDir: string): Promise<void> {
  const program = await findRedisServer({ log: warn, env: process.env });
  // Nobody will read the store's log on disk again.
  const embedded = await startEmbedded({ dataDir, log: warn, program, settings: { appendfsync: 'no' } });
  try {
    const service = await startService({
      redisUrl: embedded.socketPath,
      role: 'all',
      host: '127.0.0.1',
      port: 0,
      log: openLog(process.env['LOG_LEVEL'] || 'silent'),
      webhookAllowPrivate: true,
    });
    try {
      await service.scripts.load();
      await createOrganization(service, { org, plan: 'enterprise' });
      const { apiKey: key } = await createKey(service, { org, permissions });
      const space = () => createSpace(service, { org, limits: limitsAt(service.limits, 'max') });
      print({ url: service.url, key, spaceId: (await space()).spaceId });
      const input = createInterface({ input: process.stdin, signal: stopping.signal });
      for await (const _ of input) print({ spaceId: (await space()).spaceId });
    } finally {
      await service.stop();
    }
  } finally {
    await embedded.stop();
  }
}

// Ctrl-C reaches the whole group, but the tests may still need the server to clean up. It ends with them.
for (const name of ['SIGINT', 'SIGHUP'] as const) process.on(name, () => undefined);
process.on('SIGTERM', () => stopping.abort());
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

const dataDir = await mkdtemp(join(tmpdir(), 'muster-test-'));
try {
  await serveTests(dataDir);
} catch (error) {
  warn(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  await rm(dataDir, { recursive: true, force: true });
}
process.exit();
