import type { Command } from 'commander';
import type { Config } from '../config.ts';
import { findRedisServer, type RedisServer } from '../embedded/server-binary.ts';
import { createSnapshot } from '../jobs/snapshot/create.ts';
import { SnapshotFailure } from '../jobs/snapshot/failure.ts';
import { findSnapshot, listSnapshots, snapshotFolder } from '../jobs/snapshot/folder.ts';
import { restoreEmbedded, restoreInto } from '../jobs/snapshot/restore.ts';
import { verifySnapshot } from '../jobs/snapshot/verify.ts';
import { type Cli, examples } from './command.ts';

const snapshotSyntax = 'a name from snapshot list, or the path of an .rdb file';

export function addSnapshotCommands(program: Command, cli: Cli): void {
  const snapshot = program
    .command('snapshot')
    .description(
      'snapshots: full copies of the store in DATA_DIR/snapshots, also made every SNAPSHOT_INTERVAL_SECONDS',
    );
  examples(snapshot, 'snapshot create', 'snapshot verify 2026-01-31T12-00-00-000Z');

  const list = snapshot
    .command('list')
    .description('list snapshots, newest first')
    .action(async () => {
      cli.print({ snapshots: await listSnapshots(folderOf(cli.config)), nextCursor: null });
    });
  examples(list, 'snapshot list');

  const create = snapshot
    .command('create')
    .description('make a snapshot now, without stopping the store; the oldest ones beyond SNAPSHOT_KEEP are removed')
    .action(async () => {
      const config = cli.config;
      const options = { folder: folderOf(config), keep: config.snapshotKeep, embedded: config.redisUrl === null };
      await cli.answer(({ store }) => createSnapshot(store, options));
    });
  examples(create, 'snapshot create');

  const verify = snapshot
    .command('verify <snapshot>')
    .description(`check a snapshot's checksum and have Redis check the file; <snapshot> is ${snapshotSyntax}`)
    .action(async (name: string) => {
      const config = cli.config;
      const file = await findSnapshot(folderOf(config), name);
      const { bytes, sha256, keys } = await verifySnapshot(file, await programOf(cli));
      cli.print({ verified: file.path, createdAt: file.record?.createdAt ?? null, bytes, sha256, keys });
    });
  examples(verify, 'snapshot verify 2026-01-31T12-00-00-000Z', 'snapshot verify /backup/2026-01-31T12-00-00-000Z.rdb');

  const restore = snapshot
    .command('restore <snapshot>')
    .description(
      `restore a snapshot into an empty store: a DATA_DIR whose store is empty and not running, or the server in REDIS_URL. Earlier cursors expire. <snapshot> is ${snapshotSyntax}`,
    )
    .action(async (name: string) => {
      const config = cli.config;
      const file = await findSnapshot(folderOf(config), name);
      const target = { dataDir: config.dataDir, program: await programOf(cli), log: cli.warn };
      await untilStopped(async (signal) => {
        if (config.redisUrl === null) cli.print(await restoreEmbedded(file, { ...target, signal }));
        else await cli.answer((admin) => restoreInto(admin, file, { ...target, signal }));
      });
    });
  examples(
    restore,
    'snapshot restore 2026-01-31T12-00-00-000Z',
    'snapshot restore /backup/2026-01-31T12-00-00-000Z.rdb',
  );
}

/** Aborts `work` on a signal. The server started by a restore has its own session and would otherwise keep running. */
async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const names = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  const stop = (): void => stopping.abort();
  for (const name of names) process.on(name, stop);
  try {
    await work(signal);
  } catch (error) {
    if (!signal.aborted || error instanceof SnapshotFailure) throw error;
    throw new SnapshotFailure('SNAPSHOT_FAILED', 'the restore was interrupted: start it again');
  } finally {
    for (const name of names) process.off(name, stop);
  }
}

function folderOf({ dataDir }: Config): string {
  return snapshotFolder(dataDir);
}

function programOf({ config: { redisServer }, env, warn }: Cli): Promise<RedisServer> {
  return findRedisServer({ log: warn, env: { ...env, ...(redisServer !== null && { REDIS_SERVER: redisServer }) } });
}
